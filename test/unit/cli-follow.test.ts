import { describe, expect, it } from 'vitest';
import { sendAndFollow } from '../../cli/follow-task.ts';
import { openSession } from '../../cli/session.ts';
import { answerResult } from '../../cli/text/answer-text.ts';
import { type WireTask } from '../../agents/calls/wire-task.ts';
import { manualClock } from '../support/manual-clock.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { typedTerminal } from '../support/typed-terminal.ts';
import {
  codeOf,
  failed,
  json,
  meshOf,
  openSse,
  result,
  sse,
  task,
  taskId,
  type Answer,
} from '../support/answering-mesh.ts';

function following(answer: Answer, { inProcess = false } = {}) {
  const clock = manualClock();
  const interrupt = new AbortController();
  const mesh = meshOf(answer, inProcess);
  const session = openSession(
    { color: true },
    {
      clock,
      terminal: typedTerminal(),
      random: seededRandom(1),
      signal: interrupt.signal,
      openMesh: async () => mesh,
    },
  );
  const submission = { agentId: 'adolf', messageId: 'm-1', message: {} };
  return { clock, interrupt, session, mesh, submission };
}

const chunk = (text: string, append: boolean) => ({
  artifactUpdate: { taskId, artifact: { artifactId: 'answer', parts: [{ text }] }, append },
});

describe('sending and waiting', () => {
  it('adds chunks up to the answer', async () => {
    const { session, mesh, submission } = following(() =>
      sse([
        { task: task('WORKING') },
        chunk('Forty', false),
        chunk('-two', true),
        { statusUpdate: { taskId, status: { state: 'TASK_STATE_COMPLETED' } } },
      ]),
    );
    const reply = await sendAndFollow(session, mesh, submission);
    expect('task' in reply && answerResult(reply.task)).toMatchObject({ text: 'Forty-two' });
  });

  describe('what an update says of its standing', () => {
    const asked = {
      ...{ phase: 'input-required', decisionId: 'd-1', options: ['yes'], askedOf: ['alvis'] },
      ...{ waits: 'It waits for alvis.', reason: 'r', until: 'u', ask: 'verify', boardTaskId: '7' },
    };
    const after = async (metadata: Record<string, unknown> | undefined) => {
      const { session, mesh, submission } = following(() =>
        sse([
          { task: task('INPUT_REQUIRED', { metadata: asked }) },
          { statusUpdate: { taskId, status: { state: 'TASK_STATE_COMPLETED' }, metadata } },
        ]),
      );
      const reply = await sendAndFollow(session, mesh, submission);
      return 'task' in reply ? reply.task.metadata : undefined;
    };

    it('takes the place of all that held before', async () => {
      const ended = await after({ phase: 'done', attempt: 1 });
      expect(ended).toEqual({ phase: 'done', attempt: 1, boardTaskId: '7' });
    });

    it('is added where a foreign agent says but what is new', async () => {
      expect(await after({ page: 2 })).toEqual({ ...asked, page: 2 });
      expect(await after(undefined)).toEqual(asked);
    });
  });

  it('looks once more after --timeout: why a task waits changes without an event', async () => {
    const waits = 'It is parked: the gateway does not answer.';
    const { clock, session, mesh, submission } = following(({ method }, { signal }) =>
      method === 'SendStreamingMessage'
        ? openSse(
            [{ task: task('SUBMITTED', { metadata: { phase: 'ready', waits: 'Next.' } }) }],
            signal,
          )
        : result(task('SUBMITTED', { metadata: { phase: 'ready', waits } })),
    );
    let reply: Awaited<ReturnType<typeof sendAndFollow>> | undefined;
    const waiting = sendAndFollow(session, mesh, submission, { timeoutMs: 5_000 }).then((got) => {
      reply = got;
    });
    while (reply === undefined) await clock.advance(1_000);
    await waiting;
    expect('task' in reply && answerResult(reply.task).text).toContain(waits);
  });

  it('loses nothing when the stream breaks: the task is read until it rests', async () => {
    let reads = 0;
    const { clock, session, mesh, submission } = following(({ method }) => {
      if (method === 'SendStreamingMessage')
        return sse([{ task: task('WORKING') }], { broken: true });
      reads += 1;
      return result(
        reads < 3
          ? task('WORKING')
          : task('INPUT_REQUIRED', { metadata: { options: ['yes', 'no'] } }),
      );
    });
    const reply = sendAndFollow(session, mesh, submission);
    while (reads < 3) await clock.advance(1_000);
    const { task: last } = (await reply) as { task: WireTask };
    expect(answerResult(last)).toMatchObject({ exitCode: 14 });
    expect(answerResult(last).text).toContain('mesh answer 1a2b3c4d yes|no');
  });

  describe('with the mesh away for a while', () => {
    const away = [
      ['a dead address', () => Promise.reject(new TypeError('fetch failed'))],
      ['HTTP 503', () => new Response('down', { status: 503 })],
      ['an answer cut short', () => new Response('{"jsonrpc":')],
    ] as const;

    it.each(away)('outlasts %s', async (_what, outage) => {
      let reads = 0;
      const { clock, session, mesh, submission } = following(({ method }) => {
        if (method === 'SendStreamingMessage')
          return sse([{ task: task('WORKING') }], { broken: true });
        reads += 1;
        return reads < 4 ? outage() : result(task('COMPLETED'));
      });
      const reply = sendAndFollow(session, mesh, submission);
      while (reads < 4) await clock.advance(1_000);
      expect(await reply).toMatchObject({ task: { status: { state: 'TASK_STATE_COMPLETED' } } });
    });

    it.each(away)('gives up at --timeout only, with what was known: %s', async (_what, outage) => {
      const { clock, session, mesh, submission } = following(({ method }) =>
        method === 'SendStreamingMessage'
          ? sse([{ task: task('WORKING') }], { broken: true })
          : outage(),
      );
      let reply: unknown;
      const waiting = sendAndFollow(session, mesh, submission, { timeoutMs: 5_000 }).then(
        (got) => (reply = got),
      );
      while (reply === undefined) await clock.advance(1_000);
      expect(await waiting).toMatchObject({ task: { status: { state: 'TASK_STATE_WORKING' } } });
    });

    it('still ends at Ctrl-C', async () => {
      const { clock, interrupt, session, mesh, submission } = following(({ method }) =>
        method === 'SendStreamingMessage'
          ? sse([{ task: task('WORKING') }], { broken: true })
          : Promise.reject(new TypeError('fetch failed')),
      );
      const ended = sendAndFollow(session, mesh, submission).then(
        () => undefined,
        (error: unknown) => error,
      );
      while (!session.hint?.includes('1a2b3c4d')) await clock.advance(100);
      await clock.advance(3_000);
      interrupt.abort(new Error('Ctrl-C'));
      expect(await ended).toMatchObject({ message: 'Ctrl-C' });
    });

    it.each([
      ['UNAUTHENTICATED', () => json({ title: 'No' }, 401)],
      ['NOT_FOUND', () => failed(-32001, 'No task.')],
    ])('takes %s for an answer', async (code, answer) => {
      const { clock, session, mesh, submission } = following(({ method }) =>
        method === 'SendStreamingMessage'
          ? sse([{ task: task('WORKING') }], { broken: true })
          : answer(),
      );
      let ended: unknown;
      const waiting = codeOf(sendAndFollow(session, mesh, submission)).then((got) => (ended = got));
      while (ended === undefined) await clock.advance(1_000);
      expect(await waiting).toBe(code);
    });
  });

  it('says at Ctrl-C how to go on: by key before the answer, by id after it', async () => {
    const silent = following((_body, init) => {
      const { signal } = init;
      return new Promise((_resolve, reject) => {
        const stop = () => reject(signal?.reason as Error);
        if (signal?.aborted) stop();
        signal?.addEventListener('abort', stop);
      });
    });
    const waiting = sendAndFollow(silent.session, silent.mesh, silent.submission);
    silent.interrupt.abort(new Error('Ctrl-C'));
    await expect(waiting).rejects.toThrow();
    expect(silent.session.hint).toContain('--key m-1');

    const open = following(({ method }) =>
      method === 'SendStreamingMessage'
        ? sse([{ task: task('WORKING') }])
        : result(task('WORKING')),
    );
    const followed = sendAndFollow(open.session, open.mesh, open.submission);
    while (!open.session.hint?.includes('1a2b3c4d')) await open.clock.advance(100);
    open.interrupt.abort(new Error('Ctrl-C'));
    await expect(followed).rejects.toThrow('Ctrl-C');
    expect(open.session.hint).toContain('mesh watch 1a2b3c4d');
  });

  describe('where no mesh runs', () => {
    const inPhase = (state: string, phase: string) => ({ ...task(state), metadata: { phase } });

    it.each([
      ['SUBMITTED', 'ready'],
      ['SUBMITTED', 'scheduled'],
      ['SUBMITTED', 'submitted'],
      ['WORKING', 'input-required'],
      ['WORKING', 'done'],
    ])('does not wait for a task that is %s (%s)', async (state, phase) => {
      const { session, mesh, submission } = following(
        ({ method }) =>
          method === 'GetTask'
            ? result(inPhase(state, phase))
            : sse([{ task: inPhase(state, phase) }], { open: true }),
        { inProcess: true },
      );
      const reply = await sendAndFollow(session, mesh, submission);
      expect(reply).toMatchObject({ task: { metadata: { phase } } });
    });

    it('waits for the run of its own that began after the first frame', async () => {
      const { session, mesh, submission } = following(
        ({ method }) =>
          method === 'GetTask'
            ? result(inPhase('WORKING', 'working'))
            : sse([
                { task: inPhase('SUBMITTED', 'ready') },
                chunk('Forty-two', false),
                { statusUpdate: { taskId, status: { state: 'TASK_STATE_COMPLETED' } } },
              ]),
        { inProcess: true },
      );
      const reply = await sendAndFollow(session, mesh, submission);
      expect('task' in reply && answerResult(reply.task)).toMatchObject({ text: 'Forty-two' });
    });
  });

  it('stops waiting after --timeout with the task as it is', async () => {
    const { clock, session, mesh, submission } = following(({ method }) =>
      method === 'SendStreamingMessage'
        ? sse([{ task: task('WORKING') }])
        : result(task('WORKING')),
    );
    let reply: unknown;
    const waiting = sendAndFollow(session, mesh, submission, { timeoutMs: 5_000 }).then((got) => {
      reply = got;
    });
    while (reply === undefined) await clock.advance(1_000);
    await waiting;
    expect(reply).toMatchObject({ task: { status: { state: 'TASK_STATE_WORKING' } } });
  });
});

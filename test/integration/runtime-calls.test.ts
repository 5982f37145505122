import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { childMessageId, meshCaller, type MeshCaller } from '../../agents/calls/mesh-caller.ts';
import { humanRuntime } from '../../agents/runtimes/human.ts';
import { modelRuntime } from '../../agents/runtimes/model.ts';
import { rehearsalRuntime } from '../../agents/runtimes/rehearsal.ts';
import { Card } from '../../cards/schema/card.ts';
import type { TaskState } from '../../fabric/domain/state.ts';
import { PrincipalId, TaskId } from '../../fabric/domain/ids.ts';
import { answerQuestion } from '../../fabric/queue/answer.ts';
import { scopes } from '../../fabric/domain/principal.ts';
import { systemClock } from '../../fabric/telemetry/system-clock.ts';
import { message, rpc, taskOf, until } from '../support/edge-calls.ts';
import { edgeMesh, type EdgeMesh } from '../support/edge-mesh.ts';
import { cardFields } from '../support/card-yaml.ts';
import { ledRun, shout } from '../support/edge-runs.ts';
import { modelDesk, scriptedGateway, toolCall, type Reply } from '../support/model-desk.ts';

const never = new AbortController().signal;
let mesh: EdgeMesh;
let calls: MeshCaller;

const callerWith = (fetch: typeof globalThis.fetch): MeshCaller =>
  meshCaller({
    fetch,
    urlOf: (agentId) => mesh.urlOf(agentId) || undefined,
    keyOf: (agentId) => (agentId === 'keyless' ? undefined : mesh.keyOf(agentId)),
    clock: systemClock,
  });

beforeAll(async () => {
  mesh = await edgeMesh({
    cards: [
      {
        ...{ id: 'operator', name: 'Operator', runtime: 'human', trust: 'human' },
        ...{ persona: undefined, needs: undefined, effects: 'external', verification: 'none' },
        admit: ['human', 'trusted'],
      },
      {
        ...{ id: 'understudy', name: 'Understudy', runtime: 'rehearsal', persona: undefined },
        ...{ needs: undefined, mayCall: ['helper'] },
        rehearsal: {
          script: [
            { when: 'ask me', ask: 'Which colour?' },
            { when: 'delegate', answer: 'I asked.', submit: { agent: 'helper', text: 'help me' } },
            { when: 'slowly', answer: 'Done.', delay: '1s' },
            { answer: 'One two three.' },
          ],
        },
      },
      {
        id: 'auditor',
        name: 'Auditor',
        mayCall: ['helper', 'operator'],
        tools: ['submit', 'await', 'ask'],
      },
    ],
  });
  calls = callerWith(fetch);
  mesh.runs.set('helper', shout);
}, 60_000);
afterAll(() => mesh.close());

let sent = 0;
const sending = (change: object = {}) => {
  sent += 1;
  const id = childMessageId('test', sent);
  return { from: 'adolf', to: 'helper', text: 'help', messageId: id, wait: true, ...change };
};
const stateOf = async (taskId: string): Promise<TaskState> =>
  (await mesh.board.read(TaskId.parse(taskId)))!.state;

describe('calls between agents', () => {
  it('bring the result, under the caller’s own name', async () => {
    const answer = await calls.send(sending(), never);
    expect(answer).toMatchObject({ ok: true, task: { phase: 'done', result: 'HELP' } });
    const { task } = answer.ok ? await stateOf(answer.task.taskId) : { task: undefined };
    expect(task?.provenance).toMatchObject({ submitter: 'adolf', submitterRole: 'agent' });
    expect(task?.verification).toBe('none');
  });

  it('name one task however often the answer is lost', async () => {
    const lost: string[] = [];
    const lossy: typeof globalThis.fetch = async (input, init) => {
      const response = await fetch(input, init);
      if (lost.length >= 2) return response;
      lost.push(await response.text());
      throw new Error('The connection was reset.');
    };
    const answer = await callerWith(lossy).send(sending(), never);
    expect(answer.ok).toBe(true);
    for (const text of lost) expect(text).toContain(answer.ok ? answer.task.taskId : '?');
  });

  it('end by a value where nobody answers', async () => {
    const dead: typeof globalThis.fetch = () => Promise.reject(new Error('refused'));
    expect(await callerWith(dead).send(sending(), never)).toMatchObject({ reason: 'NO_ANSWER' });
    expect(await calls.send(sending({ to: 'nobody' }), never)).toMatchObject({
      reason: 'NO_ADDRESS',
    });
    expect(await calls.send(sending({ from: 'keyless' }), never)).toMatchObject({
      reason: 'NO_KEY',
    });
    const gone = { ...sending(), taskId: '0'.repeat(32) };
    expect(await calls.get(gone, never)).toMatchObject({ ok: false, reason: 'NOT_FOUND' });
  });

  it('tell a refusal by its reason', async () => {
    const refused = await calls.send(sending({ from: 'slow', to: 'helper' }), never);
    expect(refused).toMatchObject({ ok: false, reason: 'TRUST_DENIED' });
    const id = childMessageId('test', 'twice'.length);
    await calls.send(sending({ messageId: `${id}-same`, text: 'one' }), never);
    const other = await calls.send(sending({ messageId: `${id}-same`, text: 'two' }), never);
    expect(other).toMatchObject({ ok: false, reason: 'VALIDATION_ERROR' });
  });

  it('wait for a task that was left, and see its end at once', async () => {
    const led = ledRun();
    mesh.runs.set('slow', led.runTask);
    mesh.work('slow');
    const open = await calls.send(sending({ to: 'slow', wait: false }), never);
    expect(open).toMatchObject({ ok: true, task: { state: 'SUBMITTED' } });
    const taskId = open.ok ? open.task.taskId : '';
    const waiting = calls.await({ from: 'adolf', to: 'slow', taskId }, never);
    await led.begun;
    led.finish({ kind: 'done', outcome: { summary: 'It is done.', artifacts: [] } });
    expect(await waiting).toMatchObject({ ok: true, task: { phase: 'done' } });
  });

  it('stop when told', async () => {
    const led = ledRun();
    mesh.runs.set('doer', led.runTask);
    const stop = new AbortController();
    const waiting = calls.send(sending({ from: 'helper', to: 'doer' }), stop.signal);
    await led.begun;
    stop.abort();
    expect(await waiting).toMatchObject({ ok: false, reason: 'STOPPED' });
    led.finish({ kind: 'done', outcome: { summary: 'x', artifacts: [] } });
  });
});

/** Sends as a person and waits; the Task. */
async function ask(agentId: string, text: string, extension: object = {}) {
  const token = await mesh.tokenOf('alvis');
  const params = { message: message(text, {}, extension) };
  return taskOf(await rpc(mesh.urlOf(agentId), 'SendMessage', params, { token }));
}

async function childrenOf(taskId: string): Promise<readonly TaskState[]> {
  const { states } = await mesh.board.find({ parent: TaskId.parse(taskId), limit: 10 });
  return states;
}

const textOf = (task: Awaited<ReturnType<typeof ask>>): string =>
  (task.artifacts ?? []).map(({ parts }) => parts[0]?.text).join('|');

describe('a script', () => {
  beforeAll(() => {
    const card = mesh.registry.card('understudy')!;
    mesh.runs.set('understudy', rehearsalRuntime(card, { clock: systemClock, calls }));
  });

  it('is marked in all it says', async () => {
    expect(textOf(await ask('understudy', 'Anything'))).toBe('[rehearsal] One two three.');
    const asked = await ask('understudy', 'Ask me something');
    expect(asked.status.message?.parts[0]?.text).toBe('[rehearsal] Which colour?');
  });

  it('goes on with the answer', async () => {
    const asked = await ask('understudy', 'ASK ME again');
    const token = await mesh.tokenOf('alvis');
    const answer = message('red', { taskId: asked.id });
    const task = taskOf(
      await rpc(mesh.urlOf('understudy'), 'SendMessage', { message: answer }, { token }),
    );
    mesh.work('understudy');
    const done = await until(
      async () => stateOf(task.id),
      ({ phase }) => phase === 'done',
    );
    expect(done.outcome?.summary).toContain('You answered: red');
  });

  it('delegates for real', async () => {
    const task = await ask('understudy', 'delegate this');
    expect(textOf(task)).toMatch(
      /^\[rehearsal\] I asked\.\n\nhelper \(task [0-9a-f]{32}, done\) said: HELP ME$/,
    );
    const [child] = await childrenOf(task.id);
    expect(child?.task.provenance).toMatchObject({
      ...{ submitter: 'understudy', interlocutor: 'alvis', depth: 1 },
      ancestors: ['understudy'],
    });
  });
});

describe('a model persona', () => {
  const kimi = Card.parse(
    cardFields({
      ...{ id: 'kimi', name: 'Kimi', persona: undefined, needs: undefined, tier: 'large' },
      model: { gateway: 'kimi', contextTokens: 8_000, caps: ['tools'] },
    }),
  );
  const withScript = (...replies: Reply[]) => {
    const gateway = scriptedGateway(...replies);
    const cards = [...mesh.registry.current().cards.values(), kimi];
    const { deps } = modelDesk({
      ...{ cards, gateway, clock: systemClock },
      deps: { calls, board: mesh.board, artifacts: mesh.queue.artifacts },
    });
    mesh.runs.set('auditor', modelRuntime(mesh.registry.card('auditor')!, deps));
    return gateway;
  };

  it('gives work away and answers with it', async () => {
    const gateway = withScript(
      { toolCalls: [toolCall('submit', { agent: 'helper', text: 'look' })] },
      { text: 'The helper looked.' },
    );
    const task = await ask('auditor', 'Audit this.');
    expect(textOf(task)).toBe('The helper looked.');
    expect(gateway.requests[1]?.messages.at(-1)?.content).toMatch(/"phase":"done".*\nLOOK\n/s);
    expect(await childrenOf(task.id)).toHaveLength(1);
  });

  it('is told what is forbidden', async () => {
    const gateway = withScript(
      { toolCalls: [toolCall('submit', { agent: 'doer', text: 'x' })] },
      { toolCalls: [toolCall('submit', { agent: 'nobody', text: 'x' })] },
      { text: 'Neither went.' },
    );
    await ask('auditor', 'Try.');
    const told = gateway.requests[2]!.messages.filter(({ role }) => role === 'tool');
    expect(told.map(({ content }) => /^\{"refused":"(\w+)"/.exec(content)?.[1])).toEqual([
      'TRUST_DENIED',
      'NO_ADDRESS',
    ]);
  });
});

describe('a person as an agent', () => {
  beforeAll(() => {
    mesh.runs.set('operator', humanRuntime(mesh.registry.card('operator')!));
    mesh.work('operator');
  });

  it('is asked, and their answer is the result', async () => {
    const task = await ask('operator', 'May we deploy tonight?', { priority: 1 });
    const asked = await until(
      () => stateOf(task.id),
      ({ phase }) => phase === 'input-required',
    );
    expect(asked.question).toMatchObject({
      ...{ kind: 'gate', options: ['approve', 'reject'], to: ['operator'], urgent: true },
      text: 'alvis asks Operator:\n\nMay we deploy tonight?\n\napprove = alvis gets your yes and goes on; reject = alvis gets your no.',
    });
    await answerQuestion(mesh.queue, {
      principal: {
        ...{ id: PrincipalId.parse('operator'), role: 'human', trust: 'human' },
        scopes: new Set(scopes),
      },
      uid: asked.taskId,
      decisionId: asked.question!.decisionId,
      value: 'approve',
      note: 'After eight.',
    });
    const done = await until(
      () => stateOf(task.id),
      ({ phase }) => phase === 'done',
    );
    expect(done.outcome).toMatchObject({
      summary: 'approve',
      artifacts: [{ name: 'answer', text: 'approve\n\nAfter eight.' }],
    });
  });

  it.each([
    ['Which host should I take?', 'question'],
    ['Shall I take this or that?', 'question'],
    ['Write a word of welcome.', 'question'],
    ['Approve the plan in docs/plan.md', 'gate'],
    ['The tests are green. Is that enough?', 'gate'],
  ])('%s is a %s', async (text, kind) => {
    const task = await ask('operator', text);
    const asked = await until(
      () => stateOf(task.id),
      ({ phase }) => phase === 'input-required',
    );
    expect(asked.question?.kind).toBe(kind);
    expect(asked.question?.options).toHaveLength(kind === 'gate' ? 2 : 0);
  });
});

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createProgressMeter } from '../../agents/a2a/progress-meter.ts';
import { issueRunToken } from '../../agents/auth/run-token.ts';
import { TaskId } from '../../fabric/domain/ids.ts';
import { limits } from '../../fabric/domain/limits.ts';
import { errorOf, message, rpc, stream, taskOf, WireTask } from '../support/edge-calls.ts';
import { edgeMesh, meshSecret, type EdgeMesh } from '../support/edge-mesh.ts';
import { answered, ledRun, type LedRun } from '../support/edge-runs.ts';
import { manualClock } from '../support/manual-clock.ts';

let mesh: EdgeMesh;
let person: string;
beforeAll(async () => {
  mesh = await edgeMesh({
    cards: [{ id: 'talker', name: 'Talker', progress: true, queue: { concurrency: 20 } }],
  });
  person = await mesh.tokenOf('alvis');
});
afterAll(() => mesh.close());

const tokenOf = (agentId: string, taskId: string, fence: number) =>
  issueRunToken({ ...{ meshSecret, agentId, taskId, fence }, expiresAtMs: Date.now() + 60_000 });
const say = (token: string, text: string, change: object = {}, agentId = 'talker') =>
  rpc(mesh.urlOf(agentId), 'cardmesh/progress', { text, ...change }, { token });

interface AtWork {
  readonly run: LedRun;
  readonly taskId: string;
  readonly fence: number;
  readonly token: string;
  /** What its follower is told, status by status. */
  readonly said: string[];
  /** Lets the run end; resolves when its stream has. */
  end(): Promise<void>;
}

/** A run of `agentId` at work, and a person who follows it. */
async function atWork(agentId = 'talker'): Promise<AtWork> {
  const run = ledRun();
  mesh.runs.set(agentId, run.runTask);
  const said: string[] = [];
  const params = { message: message('Work.') };
  const follow = (async () => {
    const events = stream(mesh.urlOf(agentId), 'SendStreamingMessage', params, { token: person });
    for await (const { result } of events) {
      const status = WireTask.shape.status.safeParse(result.statusUpdate?.status).data;
      const text = status?.message?.parts[0]?.text;
      if (text !== undefined) said.push(text);
    }
  })();
  const { state, fence } = await run.begun;
  return {
    ...{ run, taskId: state.taskId, fence, said },
    token: await tokenOf(agentId, state.taskId, fence),
    async end() {
      run.finish(await answered(await run.begun, 'done'));
      await follow;
    },
  };
}

describe('what a run’s program says of its work', () => {
  let work: AtWork;
  beforeEach(async () => {
    work = await atWork();
  });

  it('is seen by whoever follows, and is no result', async () => {
    const before = (await mesh.board.read(TaskId.parse(work.taskId)))?.state;
    expect((await say(work.token, 'Reading 3 of 7 files.')).result).toEqual({});
    expect((await say(work.token, 'All done!', { taskId: work.taskId })).result).toEqual({});
    expect((await say(work.token, 'Over the router, too.', {}, 'router')).result).toEqual({});
    const task = await rpc(mesh.urlOf('talker'), 'GetTask', { id: work.taskId }, { token: person });
    expect(taskOf(task).status.state).toBe('TASK_STATE_WORKING');
    expect((await mesh.board.read(TaskId.parse(work.taskId)))?.state).toEqual(before);
    await work.end();
    expect(work.said).toEqual(['Reading 3 of 7 files.', 'All done!', 'Over the router, too.']);
  });

  it('shows no secret of its Card and no credential', async () => {
    const apiToken = await mesh.tokenOf('bob');
    await say(work.token, `open-sesame, ${work.token}, ${apiToken}, end`);
    await work.end();
    expect(work.said).toEqual(['[redacted], [redacted], [redacted], end']);
  });

  it(`has at most ${limits.progressBytes} bytes and says something`, async () => {
    const most = 'ü'.repeat(limits.progressBytes / 2);
    expect((await say(work.token, most)).error).toBeUndefined();
    expect(errorOf(await say(work.token, `${most}x`)).code).toBe(-32602);
    expect(errorOf(await say(work.token, ' \n')).code).toBe(-32602);
    await work.end();
  });

  it(`is taken ${limits.progressPerMinute} times a minute, by whatever address`, async () => {
    for (let n = 0; n < limits.progressPerMinute; n++) {
      const reply = await say(work.token, `step ${n}`, {}, n % 2 === 0 ? 'talker' : 'router');
      expect(reply.error).toBeUndefined();
    }
    for (const address of ['talker', 'router']) {
      const reply = await say(work.token, 'one more', {}, address);
      expect(errorOf(reply)).toMatchObject({ code: 42902, reason: 'CAPACITY' });
      expect(JSON.stringify(reply.error?.data)).toContain('retryAt');
    }
    const other = await atWork();
    expect((await say(other.token, 'I have a share of my own.')).error).toBeUndefined();
    await Promise.all([work.end(), other.end()]);
  });

  it('comes from a signed call of the agent for that run as well', async () => {
    const run = { taskId: TaskId.parse(work.taskId), fence: work.fence };
    const token = await mesh.signed('talker', 'talker', { run });
    expect((await say(token, 'Signed.')).error).toBeUndefined();
    await work.end();
    expect(work.said).toEqual(['Signed.']);
  });

  it('is refused for another task, from another fence, and after the run', async () => {
    const other = await atWork();
    const reply = await say(work.token, 'not mine', { taskId: other.taskId });
    expect(errorOf(reply)).toMatchObject({ code: 40301, reason: 'TRUST_DENIED' });
    expect(reply.error?.message).toContain(work.taskId);
    const stale = await tokenOf('talker', work.taskId, work.fence + 1);
    expect((await say(stale, 'stale')).status).toBe(401);
    await Promise.all([work.end(), other.end()]);
    expect((await say(work.token, 'late')).status).toBe(401);
    expect([...work.said, ...other.said]).toEqual([]);
  });

  it('is refused from whoever is no run, and at the address of another agent', async () => {
    const outside = [person, await mesh.signed('talker', 'talker')];
    for (const token of outside) {
      const reply = await say(token, 'I am no run', { taskId: work.taskId });
      expect(errorOf(reply)).toMatchObject({ code: 40301, reason: 'TRUST_DENIED' });
    }
    expect(errorOf(await say(work.token, 'elsewhere', {}, 'adolf')).code).toBe(-32001);
    await work.end();
    expect(work.said).toEqual([]);
  });
});

describe('a run whose Card says nothing of progress', () => {
  it('submits children and says nothing', async () => {
    const work = await atWork('helper');
    const reply = await say(work.token, 'hello?', {}, 'helper');
    expect(errorOf(reply)).toMatchObject({ code: 40301, reason: 'TRUST_DENIED' });
    expect(reply.error?.message).toContain('progress: true');
    await work.end();
    expect(work.said).toEqual([]);
  });
});

describe('the share of a run', () => {
  const taskId = TaskId.parse('a'.repeat(32));

  it('is whole again after a minute, and a new one with each claim', async () => {
    const clock = manualClock();
    const meter = createProgressMeter(clock);
    const spend = (fence: number) => {
      let taken = 0;
      while (meter.spentUntil({ taskId, fence }) === undefined) taken += 1;
      return taken;
    };
    expect(spend(2)).toBe(limits.progressPerMinute);
    await clock.advance(20_000);
    expect(meter.spentUntil({ taskId, fence: 2 })).toBe(clock.nowMs() + 40_000);
    expect(spend(5)).toBe(limits.progressPerMinute);
    await clock.advance(60_000);
    expect(spend(5)).toBe(limits.progressPerMinute);
  });
});

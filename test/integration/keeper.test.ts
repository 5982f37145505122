import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BoardUnavailableError, MeshError } from '../../fabric/domain/errors.ts';
import type { TaskId } from '../../fabric/domain/ids.ts';
import { limits } from '../../fabric/domain/limits.ts';
import type { TaskState } from '../../fabric/domain/state.ts';
import { openEmbeddedBoard, type EmbeddedBoard } from '../../fabric/embedded/embedded-board.ts';
import { fileArtifacts } from '../../fabric/embedded/file-artifacts.ts';
import type { Directory } from '../../fabric/ports/directory.ts';
import { change, eventOf } from '../../fabric/queue/change.ts';
import type { QueueDeps } from '../../fabric/queue/deps.ts';
import { sweepDeadLetters } from '../../keeper/dead-letters.ts';
import { sweepDeadlines } from '../../keeper/deadlines.ts';
import { createLeaseSweep } from '../../keeper/leases.ts';
import {
  appendAll,
  claimedBy,
  human,
  keeper,
  notedBy,
  startedBy,
  submitted,
} from '../support/board-builders.ts';
import { manualClock, type ManualClock } from '../support/manual-clock.ts';
import { recordingLog } from '../support/recording-log.ts';
import { seededRandom } from '../support/seeded-random.ts';

const noDirectory: Directory = {
  agent: () => undefined,
  agents: () => [],
  defaultHuman: () => {
    throw new Error('the keeper asks nobody by default');
  },
};

let folder: string;
let board: EmbeddedBoard;
let clock: ManualClock;
let deps: QueueDeps;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mesh-keeper-'));
  clock = manualClock();
  board = await openEmbeddedBoard({ path: join(folder, 'mesh.db'), clock, log: recordingLog() });
  deps = {
    board,
    directory: noDirectory,
    artifacts: fileArtifacts({ folder: join(folder, 'artifacts') }),
    clock,
    random: seededRandom(1),
    log: recordingLog(),
    meshSecret: 'secret',
  };
});

afterEach(async () => {
  await board.close();
  await rm(folder, { recursive: true });
});

async function stateOf(uid: TaskId): Promise<TaskState> {
  const log = await board.read(uid);
  if (log === undefined) throw new Error(`task ${uid} is gone`);
  return log.state;
}

const leaseMs = async (uid: TaskId) => (await stateOf(uid)).claim?.leaseMs ?? 0;

/** A working task whose holder never beats. */
async function working(overrides: Parameters<typeof submitted>[1] = {}): Promise<TaskId> {
  const uid = await submitted(board, overrides);
  await appendAll(board, uid, [claimedBy('adolf'), startedBy('adolf', 2)]);
  return uid;
}

describe('leases', () => {
  const nobodyDead = { isDead: () => Promise.resolve(false) };

  it('expires a claim only after a whole lease without a beat on its own clock', async () => {
    const uid = await working();
    const { sweep } = createLeaseSweep(deps, { by: keeper, liveness: nobodyDead });
    expect(await sweep()).toBe(0);
    await clock.advance((await leaseMs(uid)) - 1);
    expect(await sweep()).toBe(0);
    await clock.advance(1);
    expect(await sweep()).toBe(1);
    expect(await stateOf(uid)).toMatchObject({ phase: 'ready', attempts: 1 });
  });

  it('is not moved by a wall clock that jumps two hours ahead', async () => {
    const uid = await working();
    const { sweep } = createLeaseSweep(deps, { by: keeper, liveness: nobodyDead });
    await sweep();
    clock.step(2 * 3_600_000);
    expect(await sweep()).toBe(0);
    expect((await stateOf(uid)).phase).toBe('working');
  });

  it('counts from the last beat it saw', async () => {
    const uid = await working();
    const { sweep } = createLeaseSweep(deps, { by: keeper, liveness: nobodyDead });
    await sweep();
    await clock.advance((await leaseMs(uid)) - 1);
    await board.beat(uid, 2);
    await sweep();
    await clock.advance((await leaseMs(uid)) - 1);
    expect(await sweep()).toBe(0);
  });

  it('expires at the first sweep with proof that the process is dead', async () => {
    const uid = await working();
    const { sweep } = createLeaseSweep(deps, {
      by: keeper,
      liveness: { isDead: () => Promise.resolve(true) },
    });
    expect(await sweep()).toBe(1);
    expect((await stateOf(uid)).phase).toBe('ready');
  });

  it('asks a person about external work instead of running it again', async () => {
    const uid = await working({ definition: { effects: 'external' } });
    const { sweep } = createLeaseSweep(deps, {
      by: keeper,
      liveness: { isDead: () => Promise.resolve(true) },
    });
    await sweep();
    const state = await stateOf(uid);
    expect(state.phase).toBe('needs-review');
    expect(state.question).toMatchObject({ kind: 'reconcile', to: ['alvis'] });
  });

  it('leaves an outcome alone that came between its reading and its writing', async () => {
    const uid = await working();
    const { sweep } = createLeaseSweep(deps, {
      by: keeper,
      liveness: {
        async isDead() {
          const outcome = { summary: 'done', artifacts: [] };
          await change(deps, uid, ({ state }) =>
            state.phase === 'working'
              ? eventOf(deps, { id: state.claim!.holder, role: 'agent' }, 'settled', {
                  fence: state.claim!.fence,
                  outcome,
                })
              : undefined,
          );
          return true;
        },
      },
    });
    expect(await sweep()).toBe(0);
    expect((await stateOf(uid)).phase).toBe('done');
  });
});

describe('deadlines', () => {
  it('asks once about a late task, fails nothing, and the answer returns it to its place', async () => {
    const deadlineAtMs = clock.nowMs() + 60_000;
    const uid = await submitted(board, { definition: { deadlineAtMs } });
    expect(await sweepDeadlines(deps, keeper)).toBe(0);
    await clock.advance(60_000);
    expect(await sweepDeadlines(deps, keeper)).toBe(1);
    expect(await sweepDeadlines(deps, keeper)).toBe(0);
    const { question } = await stateOf(uid);
    await change(deps, uid, () =>
      eventOf(deps, human('alvis'), 'answered', {
        decisionId: question!.decisionId,
        value: 'go on',
      }),
    );
    expect((await stateOf(uid)).phase).toBe('ready');
    expect(await sweepDeadlines(deps, keeper)).toBe(0);
  });

  it('does not touch a task that somebody works on', async () => {
    const uid = await working({ definition: { deadlineAtMs: clock.nowMs() + 1 } });
    await clock.advance(10);
    expect(await sweepDeadlines(deps, keeper)).toBe(0);
    expect((await stateOf(uid)).phase).toBe('working');
  });
});

describe('dead letters', () => {
  const fullFrom = limits.reservedFromVersion - limits.eventsOfRun;

  /** A task whose log has `version` events, in its queue. */
  async function grown(version: number, overrides: Parameters<typeof submitted>[1] = {}) {
    const uid = await submitted(board, overrides);
    for (let next = 2; next <= version; next++) {
      await board.append(uid, next, notedBy('alvis', 'And?'), 'buffered');
    }
    return uid;
  }

  it('are what no worker can ever take again, for want of room in its log', async () => {
    const full = await grown(fullFrom);
    const later = await grown(fullFrom, {
      definition: { notBeforeAtMs: clock.nowMs() + 60_000 },
    });
    const nearly = await grown(fullFrom - 1);
    await submitted(board);
    expect(await sweepDeadLetters(deps, keeper)).toBe(2);
    for (const uid of [full, later]) {
      const state = await stateOf(uid);
      expect(state.phase).toBe('dead-letter');
      expect(state.failure).toBe('its log has 477 of 512 events and no room for another run');
    }
    expect((await stateOf(nearly)).phase).toBe('ready');
    expect(await sweepDeadLetters(deps, keeper)).toBe(0);
  });
});

describe('one task that a sweep stumbles over', () => {
  const dead = { isDead: () => Promise.resolve(true) };

  /** The keeper's parts over a board on which every change of `uid` fails. */
  function refusing(uid: TaskId, error: Error): QueueDeps {
    const append: typeof board.append = (changed, ...rest) =>
      changed === uid ? Promise.reject(error) : board.append(changed, ...rest);
    return { ...deps, board: { ...board, append } };
  }

  const fault = new MeshError('CAPACITY', 'it takes no more');

  it('keeps no other lease from being expired', async () => {
    const uids = [await working(), await working(), await working()];
    const { sweep } = createLeaseSweep(refusing(uids[1]!, fault), { by: keeper, liveness: dead });
    expect(await sweep()).toBe(2);
    const phases = await Promise.all(uids.map(async (uid) => (await stateOf(uid)).phase));
    expect(phases).toEqual(['ready', 'working', 'ready']);
  });

  it('keeps no other deadline from being asked about', async () => {
    const deadlineAtMs = clock.nowMs() + 1;
    const put = () => submitted(board, { definition: { deadlineAtMs } });
    const uids = [await put(), await put(), await put()];
    await clock.advance(1);
    expect(await sweepDeadlines(refusing(uids[1]!, fault), keeper)).toBe(2);
  });

  it('is in the log, with its name and that of the sweep', async () => {
    const uid = await working();
    const { sweep } = createLeaseSweep(refusing(uid, fault), { by: keeper, liveness: dead });
    await sweep();
    expect((deps.log as ReturnType<typeof recordingLog>).lines).toContainEqual({
      level: 'error',
      event: 'keeper.task-skipped',
      fields: { sweep: 'expired', taskId: uid, reason: 'it takes no more' },
    });
  });

  it('is known as it was seen when the board fails in between', async () => {
    const uid = await working();
    let isDown = false;
    const find: typeof board.find = (query) =>
      isDown ? Promise.reject(new BoardUnavailableError('down')) : board.find(query);
    const flickering = { ...deps, board: { ...board, find } };
    const alive = { isDead: () => Promise.resolve(false) };
    const { sweep } = createLeaseSweep(flickering, { by: keeper, liveness: alive });
    await sweep();
    isDown = true;
    await expect(sweep()).rejects.toMatchObject({ code: 'FABRIC_DOWN' });
    isDown = false;
    await clock.advance(await leaseMs(uid));
    expect(await sweep()).toBe(1);
  });
});

it('leaves a late task that can be asked about nothing more where it is', async () => {
  const uid = await submitted(board, { definition: { deadlineAtMs: clock.nowMs() + 1 } });
  for (let version = 2; version < limits.reservedFromVersion; version++) {
    await board.append(uid, version, notedBy('alvis', 'And?'), 'buffered');
  }
  await clock.advance(1);
  expect(await sweepDeadlines(deps, keeper)).toBe(0);
  expect((deps.log as ReturnType<typeof recordingLog>).lines).toEqual([]);
});

it('takes the counts of a board that was opened anew for beats', async () => {
  const uid = await working();
  const alive = { isDead: () => Promise.resolve(false) };
  const onBoard = (now: EmbeddedBoard) => ({ ...deps.board, ...now });
  const moving = { ...deps };
  const { sweep } = createLeaseSweep(moving, { by: keeper, liveness: alive });
  await sweep();
  await clock.advance((await leaseMs(uid)) - 1);
  await board.close();
  board = await openEmbeddedBoard({ path: join(folder, 'mesh.db'), clock, log: recordingLog() });
  Object.assign(moving, { board: onBoard(board) });
  await clock.advance(1);
  expect(await sweep()).toBe(0);
});

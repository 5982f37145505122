import { expect } from 'vitest';
import type { TaskId } from '../../../fabric/domain/ids.ts';
import type { RunEnd } from '../../../fabric/ports/run-task.ts';
import { cancelTask } from '../../../fabric/queue/cancel.ts';
import { claimTask, startRun, type Held } from '../../../fabric/queue/claim.ts';
import type { QueueDeps } from '../../../fabric/queue/deps.ts';
import { finishRun } from '../../../fabric/queue/finish.ts';
import { steerTask } from '../../../fabric/queue/steer.ts';
import { verifyTask } from '../../../fabric/queue/verify.ts';
import { change, eventOf } from '../../../fabric/queue/change.ts';
import { owner, submitCrashTask } from '../crash-home.ts';

/** What comes between a keeper's last look at a silent claim and its word about it (bug log G-16). */
export const betweens = ['finished', 'verified', 'claimed anew', 'canceled', 'taken back'] as const;
export type Between = (typeof betweens)[number];

/** Somebody's keeper, that stops each time right before it gives a claim up. */
export interface PausedKeeper {
  /** Resolves when it stands before its word about `uid`. */
  stopped(uid: TaskId): Promise<void>;
  /** Lets it go on; resolves with what became of its word. */
  goesOn(uid: TaskId): Promise<string>;
}

const agentId = 'builder';

/** One round: the claim falls silent, the keeper decides and stops, something happens, the keeper goes on. */
export async function pauseKeeper(
  deps: QueueDeps,
  keeper: PausedKeeper,
  round: number,
): Promise<void> {
  const between = betweens[round % betweens.length]!;
  const uid = await submitCrashTask(deps, agentId, `Round ${round}`);
  const held = await startedBy(deps, uid, 'a11ce00a11ce0001');
  await keeper.stopped(uid);
  await happen[between](deps, held);
  const before = (await deps.board.read(uid))!;
  expect(await keeper.goesOn(uid)).toBe('conflict');

  const { events, state } = (await deps.board.read(uid))!;
  const added = events.slice(before.events.length).map(({ kind }) => kind);
  expect(added, between).toEqual([]);
  expect(state.phase, between).toBe(before.state.phase);
  // Of a newer claim nothing is left for the next rounds to give up.
  if (state.claim) await finishRun(deps, { ...held, fence: state.claim.fence }, done);
}

async function startedBy(deps: QueueDeps, uid: TaskId, incarnation: string): Promise<Held> {
  const [policy] = deps.directory.agents();
  const held = await claimTask(deps, uid, { policy: policy!, incarnation });
  return startRun(deps, held!);
}

const done: RunEnd = { kind: 'done', outcome: { summary: 'It is done.', artifacts: [] } };

const happen: Readonly<Record<Between, (deps: QueueDeps, held: Held) => Promise<unknown>>> = {
  finished: (deps, held) => finishRun(deps, held, done),
  async verified(deps, held) {
    await happen.finished(deps, held);
    await verifyTask(deps, { principal: owner, uid: held.uid, verdict: 'verified' });
  },
  async 'claimed anew'(deps, held) {
    await expiredByAnother(deps, held);
    await startedBy(deps, held.uid, 'b0b0000b0b000002');
  },
  async canceled(deps, held) {
    await cancelTask(deps, { principal: owner, uid: held.uid });
    await finishRun(deps, held, { kind: 'stopped' });
  },
  async 'taken back'(deps, held) {
    await steerTask(deps, owner, held.uid, { do: 'revoke', to: 'paused' });
    await finishRun(deps, held, { kind: 'stopped' });
  },
};

async function expiredByAnother(deps: QueueDeps, { uid, fence }: Held): Promise<void> {
  const by = { id: 'keeper', role: 'keeper' } as Parameters<typeof eventOf>[1];
  await change(deps, uid, () =>
    eventOf(deps, by, 'expired', { fence, reason: 'its process is dead' }),
  );
}

import { MeshError } from '../../../fabric/domain/errors.ts';
import { AgentId, type TaskId } from '../../../fabric/domain/ids.ts';
import type { Phase, TaskState } from '../../../fabric/domain/state.ts';
import type { Random } from '../../../fabric/ports/random.ts';
import { answerQuestion } from '../../../fabric/queue/answer.ts';
import { cancelTask } from '../../../fabric/queue/cancel.ts';
import type { QueueDeps } from '../../../fabric/queue/deps.ts';
import { steerTask, type Steering } from '../../../fabric/queue/steer.ts';
import { submitTask } from '../../../fabric/queue/submit.ts';
import { verifyTask } from '../../../fabric/queue/verify.ts';
import { owner } from '../crash-home.ts';
import { stressAgents } from './stress-order.ts';
import { endRunsOf } from './stress-run.ts';
import { writeDown } from './written-down.ts';

export interface StressPeople {
  /** Every task that was acknowledged. */
  readonly known: ReadonlySet<TaskId>;
  /** Submits the `n`th task once more, unless it was acknowledged. */
  submit(n: number): Promise<void>;
  /** Answers, admits, resumes and verifies everything that waits for a person. */
  attend(): Promise<void>;
  /** Cancels, holds, takes back or edits one task at random. */
  meddle(): Promise<void>;
}

const waiting: readonly Phase[] = [
  ...(['submitted', 'suggested', 'paused', 'input-required', 'needs-review', 'done'] as const),
];

/** The people of a stress: one who asks for the work, decides what is asked, and changes her mind. */
export function stressPeople(deps: QueueDeps, home: string, random: Random): StressPeople {
  const known = new Set<TaskId>();
  const acknowledged = new Set<number>();
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random.fraction() * from.length)]!;
  return {
    known,
    async submit(n) {
      if (acknowledged.has(n)) return;
      const key = `task-${n}`;
      const uid = await refused(submitOne(deps, key, n));
      writeDown(home, { op: 'submit', learned: uid ? 'ok' : 'unknown', key, ...(uid && { uid }) });
      if (uid === undefined) return;
      acknowledged.add(n);
      known.add(uid);
    },
    async attend() {
      const page = await refused(deps.board.find({ phases: waiting, limit: 500 }));
      for (const state of page?.states ?? []) {
        if (known.has(state.taskId)) await refused(attendTo(deps, home, state, pick));
      }
    },
    async meddle() {
      if (known.size === 0) return;
      const uid = pick([...known]);
      const steerings: readonly Steering[] = [
        { do: 'revoke', to: 'ready' },
        { do: 'revoke', to: 'paused' },
        { do: 'pause' },
        { do: 'edit', edit: { priority: 1 } },
      ];
      const act =
        random.fraction() < 0.3
          ? cancelTask(deps, { principal: owner, uid })
          : steerTask(deps, owner, uid, pick(steerings));
      await refused(act);
    },
  };
}

/** A refusal and a board that is away are answers; anything else is a fault of ours. */
async function refused<T>(act: Promise<T>): Promise<T | undefined> {
  try {
    return await act;
  } catch (error) {
    if (error instanceof MeshError) return undefined;
    throw error;
  }
}

async function submitOne(deps: QueueDeps, key: string, n: number): Promise<TaskId> {
  const agentId = AgentId.parse(stressAgents[n % stressAgents.length]);
  const { state } = await submitTask(deps, {
    principal: owner,
    target: { kind: 'agent', agentId },
    idempotencyKey: key,
    intent: { title: `Task ${n}`, body: 'Do it.' },
    mode: 'async',
    verification: 'submitter',
    priority: ([0, 1, 2, 3] as const)[n % 4]!,
  });
  return state.taskId;
}

function attendTo(
  deps: QueueDeps,
  home: string,
  { phase, taskId: uid, question }: TaskState,
  pick: <T>(from: readonly T[]) => T,
): Promise<unknown> {
  if (phase === 'submitted' || phase === 'suggested') {
    return steerTask(deps, owner, uid, { do: 'admit' });
  }
  if (phase === 'paused') return steerTask(deps, owner, uid, { do: 'resume' });
  if (phase === 'done') {
    return verifyTask(deps, { principal: owner, uid, verdict: 'verified' });
  }
  if (question === undefined) return Promise.resolve();
  // She looks before she answers what a lost run leaves open: then nothing of it goes on.
  if (question.kind === 'reconcile') endRunsOf(home, uid);
  const value = question.options.length > 0 ? pick(question.options) : 'the first';
  return answerQuestion(deps, { principal: owner, uid, decisionId: question.decisionId, value });
}

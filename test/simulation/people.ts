import { MeshError } from '../../fabric/domain/errors.ts';
import { AgentId, DecisionId, type TaskId } from '../../fabric/domain/ids.ts';
import type { TaskState } from '../../fabric/domain/state.ts';
import type { Random } from '../../fabric/ports/random.ts';
import { answerQuestion } from '../../fabric/queue/answer.ts';
import { cancelTask } from '../../fabric/queue/cancel.ts';
import type { QueueDeps } from '../../fabric/queue/deps.ts';
import { noteMessage, steerTask, type Steering } from '../../fabric/queue/steer.ts';
import { submitTask } from '../../fabric/queue/submit.ts';
import { verifyTask } from '../../fabric/queue/verify.ts';
import type { HistoryLine } from '../support/history-checker.ts';
import { agentIds, callers } from './cards.ts';

export interface PeopleOptions {
  readonly deps: QueueDeps;
  readonly random: Random;
  readonly tasks: number;
  readonly history: HistoryLine[];
  readonly isCalm: () => boolean;
  readonly report: (what: string) => void;
}

/** People and clients: they submit, answer, judge and meddle, and now and then do what they may not. */
export interface People {
  start(): void;
  /** All submits were made, acknowledged or given up. */
  hasSubmitted(): boolean;
  /** Somebody acts on this very task now, as if by chance. */
  meddleWith(uid: TaskId, how: 'cancel' | 'revoke'): void;
}

export function simulatedPeople(options: PeopleOptions): People {
  const { deps, random, tasks, isCalm, report } = options;
  const known: TaskId[] = [];
  let submitting = tasks;
  const chance = (share: number): boolean => random.fraction() < share;
  const sleep = (ms: number) => deps.clock.sleep(ms * (0.5 + random.fraction()));
  const submitOne = async (n: number) => {
    await sleep((n / tasks) * 240_000);
    const sends = chance(0.1) ? 2 : 1;
    const uids = await Promise.all(Array.from({ length: sends }, () => submit(options, n, sleep)));
    submitting -= 1;
    const uid = uids.find((one) => one !== undefined);
    if (uid === undefined) return;
    known.push(uid);
    if (chance(0.04)) await tried(cancelTask(deps, { principal: callers.alvis, uid }), report);
  };
  const lookAround = async () => {
    for (;;) {
      await sleep(9_000);
      await tried(attendToAll(options, chance), report);
    }
  };
  const meddle = async () => {
    while (!isCalm()) {
      await sleep(4_000);
      const uid = known[Math.floor(random.fraction() * known.length)];
      if (uid !== undefined) await tried(meddleOnce(options, uid, chance), report);
    }
  };
  return {
    start() {
      for (let n = 0; n < tasks; n++) void submitOne(n);
      void lookAround();
      void meddle();
    },
    hasSubmitted: () => submitting === 0,
    meddleWith(uid, how) {
      const { alvis } = callers;
      const act =
        how === 'cancel'
          ? cancelTask(deps, { principal: alvis, uid })
          : steerTask(deps, alvis, uid, { do: 'revoke', to: 'ready' });
      void tried(act, report);
    },
  };
}

/** A refusal or an outage is an answer; anything else is a fault of ours. */
async function tried(act: Promise<unknown>, report: (what: string) => void): Promise<boolean> {
  try {
    await act;
    return true;
  } catch (error) {
    if (!(error instanceof MeshError)) report(`a person met ${String(error)}`);
    return false;
  }
}

/** Sends one submit until it is acknowledged, at most eight times. */
async function submit(
  { deps, history, report }: PeopleOptions,
  n: number,
  sleep: (ms: number) => Promise<void>,
): Promise<TaskId | undefined> {
  const agentId = AgentId.parse(agentIds[n % agentIds.length]);
  const byAgent = n % 5 === 0 && agentId !== 'nina';
  const key = `task-${n}`;
  for (let tries = 0; tries < 8; tries++) {
    try {
      const { state } = await submitTask(deps, {
        principal: byAgent ? callers.nina : callers.alvis,
        target: { kind: 'agent', agentId },
        idempotencyKey: key,
        intent: { title: `Task ${n}`, body: 'Do it.' },
        mode: 'async',
        verification: (['submitter', 'human', 'none'] as const)[n % 3]!,
        priority: ([0, 1, 2, 3] as const)[n % 4]!,
      });
      history.push({ op: 'submit', learned: 'ok', key, uid: state.taskId });
      return state.taskId;
    } catch (error) {
      if (!(error instanceof MeshError)) report(`a submit met ${String(error)}`);
      history.push({ op: 'submit', learned: 'unknown', key });
      await sleep(500);
    }
  }
  return undefined;
}

type Chance = (share: number) => boolean;

/** Everything that waits for a person gets one, if not at once. */
async function attendToAll(options: PeopleOptions, chance: Chance): Promise<void> {
  const { states } = await options.deps.board.find({
    phases: [
      'input-required',
      'needs-review',
      'done',
      'submitted',
      'suggested',
      'paused',
      'waiting-event',
    ],
    limit: 500,
  });
  for (const state of states) {
    if (options.isCalm() || chance(0.5))
      await tried(attendTo(options, state, chance), options.report);
  }
}

async function attendTo(
  options: PeopleOptions,
  state: TaskState,
  chance: Chance,
): Promise<unknown> {
  const { deps } = options;
  const { taskId: uid } = state;
  const { alvis } = callers;
  switch (state.phase) {
    case 'submitted':
    case 'suggested':
      return steerTask(deps, alvis, uid, { do: 'admit' });
    case 'paused':
      return steerTask(deps, alvis, uid, { do: 'resume' });
    case 'waiting-event':
      return cancelTask(deps, { principal: alvis, uid });
    case 'done':
      return judgeWork(options, state, chance);
    default:
      return answer(options, state, chance);
  }
}

async function judgeWork(
  { deps }: PeopleOptions,
  state: TaskState,
  chance: Chance,
): Promise<unknown> {
  const { taskId: uid, producer, task } = state;
  const { alvis, nina } = callers;
  if (task.verification === 'none') return undefined;
  if (chance(0.1) && producer !== undefined) {
    const itself = Object.values(callers).find(({ id }) => id === producer) ?? alvis;
    return verifyTask(deps, { principal: itself, uid, verdict: 'verified' });
  }
  const verdict = { principal: alvis, uid, verdict: 'verified' } as const;
  if (chance(0.1)) {
    const no = { ...verdict, verdict: 'refused', note: 'Not quite.', rework: false } as const;
    return Promise.allSettled([
      verifyTask(deps, no),
      verifyTask(deps, { ...verdict, principal: nina }),
      verifyTask(deps, verdict),
    ]);
  }
  return verifyTask(deps, verdict);
}

async function answer(
  { deps, random }: PeopleOptions,
  state: TaskState,
  chance: Chance,
): Promise<unknown> {
  const { question, taskId: uid } = state;
  if (question === undefined) return undefined;
  const { options: words, decisionId } = question;
  const value = words[Math.floor(random.fraction() * words.length)] ?? 'the first';
  const addressee =
    Object.values(callers).find(({ id }) => question.to.includes(id)) ?? callers.alvis;
  const mine = { principal: addressee, uid, decisionId, value };
  if (chance(0.05)) {
    const stale = DecisionId.parse('d-00000000000000ff');
    return answerQuestion(deps, { ...mine, decisionId: stale });
  }
  if (chance(0.05)) return answerQuestion(deps, { ...mine, principal: callers.mallory });
  if (chance(0.05)) {
    return Promise.allSettled([
      answerQuestion(deps, mine),
      cancelTask(deps, { principal: callers.alvis, uid }),
    ]);
  }
  return answerQuestion(deps, mine);
}

async function meddleOnce(
  { deps, random }: PeopleOptions,
  uid: TaskId,
  chance: Chance,
): Promise<unknown> {
  const { alvis } = callers;
  if (chance(0.1)) return cancelTask(deps, { principal: alvis, uid });
  if (chance(0.1)) return noteMessage(deps, alvis, uid, { messageId: random.hex(4), text: 'And?' });
  const steerings: readonly Steering[] = [
    { do: 'revoke', to: 'ready' },
    { do: 'revoke', to: 'submitted' },
    { do: 'revoke', to: 'paused' },
    { do: 'pause' },
    { do: 'edit', edit: { priority: 1 } },
    { do: chance(0.1) ? 'archive' : 'admit' },
  ];
  return steerTask(deps, alvis, uid, steerings[Math.floor(random.fraction() * steerings.length)]!);
}

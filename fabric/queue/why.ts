import { counted } from '../domain/counted.ts';
import { limits } from '../domain/limits.ts';
import { lastNotice } from '../domain/notice.ts';
import { closedPhases, hasRoomForRun, standingPark, type TaskState } from '../domain/state.ts';
import type { Availability } from '../ports/availability.ts';
import type { Hold } from './hold.ts';

type Park = NonNullable<TaskState['parked']>;

export interface Surroundings {
  readonly nowMs: number;
  /** a(t) of the task's agent; absent where no agent is chosen yet. */
  readonly availability?: Availability;
  /** a(t) of the person that its question is put to, where they are one of the agents. */
  readonly addressee?: Availability;
  /** Runs of other tasks that the agent has now, and its bound. */
  readonly slots?: { readonly taken: number; readonly limit: number };
  /** How the holder of its claim stands, where that is known. */
  readonly hold?: Hold;
  /** What the router would decide now, in a sentence; for a task that no agent is chosen for yet. */
  readonly choice?: string;
  /** Why nothing is taken from its board, whatever it is. */
  readonly frozen?: string;
}

/** In one sentence: what a task waits for, and until when as far as anybody knows. */
export function whyWaiting(state: TaskState, around: Surroundings): string {
  const { frozen } = around;
  const sentence = whyAlone(state, around);
  if (frozen === undefined || closedPhases.has(state.phase)) return sentence;
  return state.phase === 'ready' ? `${frozen}.` : `${sentence} ${frozen}.`;
}

function whyAlone(state: TaskState, around: Surroundings): string {
  const agent = state.agentId ?? 'the router';
  switch (state.phase) {
    case 'suggested':
      return 'It is only suggested: a person must enroll it (mesh task admit).';
    case 'submitted':
      return whySubmitted(state, agent);
    case 'ready':
      return whyReady(state, agent, around);
    case 'scheduled':
      return `It is scheduled for ${at(state.notBeforeAtMs)}${isPast(state, around) ? `; now due, and ${lower(whyReady(state, agent, around))}` : '.'}`;
    case 'paused':
      return 'A person paused it (mesh task resume).';
    case 'claimed':
    case 'working':
      return whyWorking(state, around);
    case 'waiting-event':
      return `It waits for the event ${state.awaitedEventId ?? '?'}.`;
    case 'input-required':
    case 'needs-review':
      return whyAsked(state, around);
    case 'done':
      return whyDone(state);
    case 'reviewing':
      return 'It is done and waits for a reviewer.';
    case 'approved':
    case 'deploying':
    case 'deploy-failed':
      return `It is done and ${state.phase}; it waits to be verified.`;
    case 'dead-letter':
      return `It was given up after ${counted(state.attempts, 'attempt')} (${state.failure ?? 'no reason kept'}); a person may archive it or submit it again.`;
    default:
      return `It waits for nothing: it is ${state.phase}.`;
  }
}

function whyAsked(state: TaskState, { addressee }: Surroundings): string {
  const { question } = state;
  if (question === undefined) return 'It waits for a person to answer its question.';
  const { to, decisionId, text } = question;
  const asked = `It waits for ${to.join(' or ')} to answer ${decisionId}: ${text}`;
  const [person = ''] = to;
  return [asked, ...awayWords(person, addressee), ...noticeWords(state, person)].join(' ');
}

function awayWords(person: string, addressee: Availability | undefined): string[] {
  if (addressee === undefined || addressee.a === 1) return [];
  const { untilMs, reasons } = addressee;
  const until = untilMs === undefined ? '' : ` until ${at(untilMs)}`;
  return [`${person} is away${until} (${reasons.join('; ')}); nothing is decided meanwhile.`];
}

/** Whether word of it has gone out to the person, as far as anybody knows. */
function noticeWords(state: TaskState, person: string): string[] {
  const last = lastNotice(state, person);
  if (last === undefined) return [];
  const { noticeId, receipt } = last;
  const when = at(receipt.atMs);
  if (receipt.status === 'published') return [`${person} was told of it at ${when}.`];
  if (receipt.status === 'failed') return [`A notice to ${person} failed at ${when}.`];
  if (receipt.status === 'prepared') return [];
  return [`Nobody knows whether notice ${noticeId} of ${when} reached ${person}.`];
}

function whySubmitted({ task }: TaskState, agent: string): string {
  const { tainted, admitted, provenance } = task;
  if (tainted) return 'It comes from tainted input, so a person must admit it (mesh task admit).';
  if (!admitted) {
    return `${provenance.submitter} is not in the admit list of ${agent}: a person must admit it (mesh task admit).`;
  }
  return 'It is held back until a person lets it go on (mesh task admit).';
}

function whyReady(state: TaskState, agent: string, around: Surroundings): string {
  const { availability, slots, choice, nowMs } = around;
  if (!hasRoomForRun(state)) {
    return `Its log has no room for another run (${state.version} of ${limits.versions} events): the keeper gives it up; submit it again.`;
  }
  if (state.agentId === undefined) {
    return choice === undefined
      ? 'It waits for the router to choose an agent.'
      : `No agent has it yet. ${choice}`;
  }
  const park = standingPark(state, nowMs);
  const walls = [...(park ? [lastWall(state, park)] : []), ...agentWalls(agent, availability)];
  if (walls.length > 0) return walls.join(' ');
  if (slots && slots.taken >= slots.limit) {
    return `It waits for a free slot: ${agent} runs ${slots.taken} of ${counted(slots.limit, 'task')}.`;
  }
  return `It is ready; a worker of queue ${state.queue} takes it next.`;
}

function lastWall({ parks = 0 }: TaskState, { untilMs, reason }: Park): string {
  const times = parks > 1 ? ` (${parks} times in a row)` : '';
  return `It is parked until ${at(untilMs)}: ${reason}${times}.`;
}

/** What keeps its agent from it; none where the agent can work. */
function agentWalls(agent: string, availability: Availability | undefined): string[] {
  if (availability === undefined || availability.a === 1) return [];
  const { untilMs, reasons, outside } = availability;
  const why = reasons.join('; ');
  if (outside) {
    return [`It waits for a loop outside the mesh: mesh task next --agent ${agent} (${why}).`];
  }
  const until = untilMs === undefined ? '' : ` until ${at(untilMs)}`;
  return [`It is parked${until}: ${agent} is not available (${why}).`];
}

function whyWorking(state: TaskState, { nowMs, hold }: Surroundings): string {
  const { claim } = state;
  const seconds = claim ? Math.max(0, Math.round((nowMs - claim.claimedAtMs) / 1_000)) : 0;
  const wish = state.cancelRequested ? ' It was asked to stop.' : '';
  const holder = claim?.holder ?? 'Somebody';
  if (hold && hold.standing !== 'alive') {
    const loss =
      hold.standing === 'dead'
        ? 'its process is dead'
        : `its lease is over since ${at(hold.leaseEndsAtMs)} without a renewal that is known here`;
    return `${holder} took it ${seconds} s ago (attempt ${state.attempts}), and ${loss}: a running mesh takes it back.${wish}`;
  }
  return `${holder} has worked on it for ${seconds} s (attempt ${state.attempts}).${wish}`;
}

function whyDone(state: TaskState): string {
  if (state.task.verification === 'none')
    return 'It waits for nothing: it is done, and nobody was asked to verify it.';
  const { verification } = state.task;
  const named = verification === 'reviewer' ? 'a reviewer or its person' : `its ${verification}`;
  const who = state.needsHumanVerify ? 'a person' : named;
  return `It is done and waits for ${who} to verify it (mesh verify ${state.taskId.slice(0, 8)}).`;
}

const isPast = (state: TaskState, { nowMs }: Surroundings): boolean =>
  state.notBeforeAtMs !== undefined && state.notBeforeAtMs <= nowMs;

const at = (ms: number | undefined): string =>
  ms === undefined
    ? 'a time nobody knows'
    : new Date(ms).toISOString().replace('T', ' ').slice(0, 19) + 'Z';

const lower = (sentence: string): string => sentence.charAt(0).toLowerCase() + sentence.slice(1);

import { createHash } from 'node:crypto';
import type { EventOf } from '../events.ts';
import { DecisionId, type PrincipalId } from '../ids.ts';
import { limits } from '../limits.ts';
import {
  refuse,
  to,
  type Decision,
  type Phase,
  type TaskState,
  type Transition,
} from '../state.ts';
import { Score, type Question } from '../task.ts';
import { readyPhase } from './intake.ts';

/** The human a gate, an escalation or a doubtful run is put to. */
export function humanFor(state: TaskState): PrincipalId {
  const { interlocutor } = state.task.provenance;
  return interlocutor ?? state.task.responsible;
}

/** The id of the question that the next event of this log would ask; the same on every host. */
export function decisionIdFor(state: Pick<TaskState, 'taskId' | 'version'>): DecisionId {
  const digest = createHash('sha256')
    .update(`${state.taskId}|${state.version + 1}`)
    .digest('hex');
  return DecisionId.parse(`d-${digest.slice(0, 16)}`);
}

/** What a person is asked when nobody can say what a run did. Written by the mesh, not by the agent. */
export function reconcileQuestion(state: TaskState, reason: string): Question {
  return {
    decisionId: decisionIdFor(state),
    kind: 'reconcile',
    text:
      `A run of this task ended without a sure result (${reason}). Look at what it did outside, ` +
      'then say: ready = run it again, done = it did its work, dead-letter = give it up for now, ' +
      'canceled = end it.',
    options: ['ready', 'done', 'dead-letter', 'canceled'],
    to: [humanFor(state)],
    urgent: true,
  };
}

/** Phases from which the fabric or the keeper may ask (score missing, deadline passed). */
const askable: ReadonlySet<Phase> = new Set<Phase>(['submitted', 'ready', 'scheduled']);

export function asked(before: TaskState, event: EventOf<'asked'>): Transition {
  if (before.decisions.length >= limits.decisions) return refuse('decisionsFull');
  const ask: Partial<TaskState> = { phase: 'input-required', question: event.question };
  if (event.fence === undefined) {
    if (!askable.has(before.phase)) return refuse('wrongPhase');
    if (event.by.role !== 'fabric' && event.by.role !== 'keeper') return refuse('notHolder');
    return to(before, event, { ...ask, askedFrom: before.phase });
  }
  if (before.phase !== 'working' || before.claim === undefined) return refuse('wrongPhase');
  if (before.claim.fence !== event.fence) return refuse('staleFence');
  if (before.claim.holder !== event.by.id) return refuse('notHolder');
  // A person wants it ended or back: that comes first, the run may not put itself off.
  if (before.cancelRequested || before.revokeTo !== undefined) return refuse('wrongPhase');
  // A run that asks has not failed: its attempt is given back, or a third question would be the last.
  return to(before, event, { ...ask, askedFrom: 'working', attempts: before.attempts - 1 }, [
    'claim',
    'revokeTo',
    'parks',
  ]);
}

/** Kinds that only a person answers, whatever the task is. */
const humanKinds: ReadonlySet<Question['kind']> = new Set<Question['kind']>([
  'gate',
  'escalation',
  'rating',
  'deadline',
  'reconcile',
  'promotion',
]);

/**
 * Whether only a person may answer a question of this kind: of kinds that decide, and every one of a task
 * that is tainted or acts outward (`DESIGN.md` 4.4).
 */
export function isForPerson({ task }: TaskState, kind: Question['kind']): boolean {
  return humanKinds.has(kind) || task.tainted || task.effects === 'external';
}

export function answered(before: TaskState, event: EventOf<'answered'>): Transition {
  const { question } = before;
  if (question === undefined) return refuse('wrongDecision');
  if (question.decisionId !== event.decisionId) return refuse('wrongDecision');
  if (!question.to.includes(event.by.id)) return refuse('notAddressee');
  if (isForPerson(before, question.kind) && event.by.role !== 'human') return refuse('humanOnly');
  if (question.kind !== 'question' && !isOption(question, event.value)) {
    return refuse('notAnOption');
  }
  if (question.kind === 'rating' && ratedBy(event.value) === undefined) {
    return refuse('notAnOption');
  }
  const decision: Decision = {
    decisionId: question.decisionId,
    kind: question.kind,
    text: question.text,
    value: event.value,
    ...(event.note === undefined ? {} : { note: event.note }),
    by: event.by.id,
    atMs: event.atMs,
  };
  return to(
    before,
    event,
    { decisions: [...before.decisions, decision], ...after(before, event) },
    ['question', 'askedFrom'],
  );
}

const ratedBy = (value: string): Score | undefined => Score.safeParse(Number(value)).data;

function isOption(question: Question, value: string): boolean {
  return question.options.length === 0 || question.options.includes(value);
}

/** Where an answer leads. */
function after(before: TaskState, event: EventOf<'answered'>): Partial<TaskState> {
  const { question } = before;
  if (question?.kind === 'reconcile') return afterReconcile(before, event);
  const ends = event.value === 'cancel' || event.value === 'wider-tier';
  // A wider tier is a new task that a person asked for; this one ends and names it.
  if (ends && question?.kind !== 'question') return { phase: 'canceled' };
  if (question?.kind === 'rating') {
    const score = ratedBy(event.value) ?? before.score;
    const waitsForAdmission = before.askedFrom === 'submitted' && !before.task.admitted;
    return { score, phase: waitsForAdmission ? 'submitted' : readyPhase(before) };
  }
  if (before.askedFrom === 'working' || before.askedFrom === undefined) return { phase: 'ready' };
  return { phase: before.askedFrom };
}

/** The evidence of a person who looked stands in for the outcome the run never gave. */
function afterReconcile(before: TaskState, event: EventOf<'answered'>): Partial<TaskState> {
  switch (event.value) {
    case 'done':
      return {
        phase: 'done',
        outcome: before.outcome ?? {
          summary: event.note ?? 'A person looked and found the work done.',
          artifacts: [],
        },
        ...(before.lastStartedBy ? { producer: before.lastStartedBy } : {}),
      };
    case 'dead-letter':
      return { phase: 'dead-letter' };
    case 'canceled':
      return { phase: 'canceled' };
    default:
      // "Run it again" is a person's decision: the attempts start anew, an earlier cancel is taken back.
      return { phase: 'ready', attempts: 0, cancelRequested: false };
  }
}

export function split(before: TaskState, event: EventOf<'split'>): Transition {
  if (before.phase !== 'input-required') return refuse('wrongPhase');
  if (event.by.role !== 'human') return refuse('humanOnly');
  const links = event.children.map((taskId) => ({ relation: 'split', taskId }));
  return to(before, event, { phase: 'split', links: [...before.links, ...links] }, [
    'question',
    'askedFrom',
  ]);
}

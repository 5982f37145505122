import type { Card } from '../../cards/schema/card.ts';
import { limits } from '../../fabric/domain/limits.ts';
import type { Decision, TaskState } from '../../fabric/domain/state.ts';
import type { Run, RunEnd, RunTask } from '../../fabric/ports/run-task.ts';
import { wishOf } from './task-text.ts';

const approve = 'approve';
const reject = 'reject';

/**
 * A person as an agent: the run puts the task to them as a question and ends; their answer is the
 * outcome of the next run. Silence is never an answer.
 */
export function humanRuntime(card: Card): RunTask {
  return async (run) => {
    const answer = answerOf(run.state, card.id);
    return answer === undefined ? ask(run.state, card) : done(run, answer);
  };
}

/** What this person said to what this runtime asked. */
function answerOf({ decisions }: TaskState, person: string): Decision | undefined {
  return decisions.findLast(
    ({ by, kind }) => by === person && (kind === 'question' || kind === 'gate'),
  );
}

async function done(run: Run, { value, note }: Decision): Promise<RunEnd> {
  const text = note === undefined ? value : `${value}\n\n${note}`;
  const artifact = await run.artifact('answer', 'text/plain', text);
  const summary = value.slice(0, limits.messageChars);
  return { kind: 'done', outcome: { summary, artifacts: [artifact] } };
}

function ask(state: TaskState, card: Card): RunEnd {
  const gate = isYesOrNo(wishOf(state));
  const urgent = state.priority === 1;
  return {
    kind: 'asked',
    question: {
      to: 'self',
      kind: gate ? 'gate' : 'question',
      text: sentenceFor(state, card, gate),
      options: gate ? [approve, reject] : [],
      ...(urgent && { urgent }),
    },
  };
}

const asksForMore = /\b(?:what|which|who|whom|whose|when|where|why|how|or)\b/i;

/** `Approve …`, or a question that yes and no answer; any other needs words. */
function isYesOrNo(wish: string): boolean {
  const text = wish.trim();
  if (/^(?:please )?approve\b/i.test(text)) return true;
  const last = text.split(/[.!\n]\s*/).at(-1) ?? '';
  return text.endsWith('?') && !asksForMore.test(last);
}

/** Written by the mesh: who asks, for whom, what, and what each answer does. */
function sentenceFor(state: TaskState, { name }: Card, gate: boolean): string {
  const { submitter, interlocutor } = state.task.provenance;
  const behalf =
    interlocutor === undefined || interlocutor === submitter ? '' : ` on behalf of ${interlocutor}`;
  const effect = gate
    ? `${approve} = ${submitter} gets your yes and goes on; ${reject} = ${submitter} gets your no.`
    : `Your answer goes back to ${submitter} as the result of this task.`;
  const due = state.deadlineAtMs === undefined ? '' : ` It is due ${instant(state.deadlineAtMs)}.`;
  const head = `${submitter} asks ${name}${behalf}:`;
  const room = limits.answerChars - head.length - effect.length - due.length - 8;
  return `${head}\n\n${shortened(wishOf(state), room)}\n\n${effect}${due}`;
}

const instant = (atMs: number): string =>
  `${new Date(atMs).toISOString().slice(0, 16).replace('T', ' ')} UTC`;

const shortened = (text: string, room: number): string =>
  text.length <= room ? text : `${text.slice(0, room - 2)} …`;

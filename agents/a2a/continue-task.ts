import type { Message } from '@a2a-js/sdk';
import { isTerminal } from '../../fabric/domain/a2a-state.ts';
import { MeshError } from '../../fabric/domain/errors.ts';
import { limits } from '../../fabric/domain/limits.ts';
import type { Principal } from '../../fabric/domain/principal.ts';
import type { TaskState } from '../../fabric/domain/state.ts';
import type { Question } from '../../fabric/domain/task.ts';
import { answerQuestion } from '../../fabric/queue/answer.ts';
import { noteMessage } from '../../fabric/queue/steer.ts';
import type { Edge } from './edge.ts';
import { invalidField } from './invalid-params.ts';
import { textOf } from './message-content.ts';
import type { Accepted, Mode } from './new-task.ts';
import { ProtocolError } from './protocol-error.ts';
import { takePlace } from './run-at-once.ts';
import { viewFor } from './task-view.ts';
import { visibleTask } from './visible-task.ts';

/** What became of a message to a task that is there. */
export interface Continued extends Accepted {
  /** Only an answer moves the task on; a note is stored and changes nothing. */
  readonly isAnswer: boolean;
}

/**
 * A message that names a task: the answer, if a question is open to its sender, else a note.
 * @throws MeshError `NOT_FOUND`; ProtocolError `UNSUPPORTED_OPERATION` for one that has ended
 */
export async function continueTask(
  edge: Edge,
  principal: Principal,
  message: Message,
  { waits }: Mode,
): Promise<Continued> {
  const { state } = await visibleTask(edge, principal, message.taskId);
  if (principal.run) throw runMayNot(principal);
  if (message.contextId !== '' && message.contextId !== (state.contextId as string)) {
    throw invalidField('params.message.contextId', `is not the context of task ${state.taskId}`);
  }
  const { question } = state;
  if (question?.to.includes(principal.id)) {
    const value = answerTo(question, textOf(message));
    const { decisionId } = question;
    const after = await answerQuestion(edge.queue, {
      principal,
      uid: state.taskId,
      decisionId,
      value,
    });
    const place = waits && after.phase === 'ready' ? takePlace(edge, after.agentId) : undefined;
    const isParked = after.phase === 'ready' && !place && isAway(edge, after);
    return { state: after, isAnswer: true, isParked, ...(place ? { place } : {}) };
  }
  const isOver = isTerminal(viewFor(state, principal).state) || state.outcome !== undefined;
  if (isOver) throw ended(state);
  return { state: await noted(edge, principal, message, state), isAnswer: false, isParked: false };
}

const isAway = (edge: Edge, { agentId }: TaskState): boolean =>
  agentId === undefined || edge.availability.at(agentId).a === 0;

function runMayNot({ id }: Principal): MeshError {
  return new MeshError(
    'TRUST_DENIED',
    `A run of ${id} may submit children of its task and await them, nothing else.`,
  );
}

function ended({ taskId, phase }: TaskState): ProtocolError {
  return new ProtocolError(
    'UNSUPPORTED_OPERATION',
    `Task ${taskId} takes no more messages: it is ${phase}. Send a new message without taskId, in the same contextId.`,
    { taskId, phase },
  );
}

/** The text of an answer; where there are options it names one of them, in any case of letters. */
function answerTo({ options, decisionId }: Question, text: string): string {
  const said = text.trim();
  const where = 'params.message.parts';
  if (said === '') throw invalidField(where, `must answer question ${decisionId} with a text`);
  if (said.length > limits.answerChars) {
    const most = limits.answerChars;
    throw invalidField(
      where,
      `an answer has at most ${most} characters and this has ${said.length}`,
    );
  }
  if (options.length === 0) return said;
  const option = options.find((choice) => choice.toLowerCase() === said.toLowerCase());
  if (option !== undefined) return option;
  throw invalidField(where, `must be one of the options: ${options.join(', ')}`);
}

async function noted(
  { queue }: Edge,
  principal: Principal,
  message: Message,
  state: TaskState,
): Promise<TaskState> {
  const text = textOf(message);
  if (isAnswerAgain(state, principal, text)) return state;
  const bytes = Buffer.byteLength(text);
  if (bytes > limits.inlineBytes) {
    throw new MeshError(
      'PAYLOAD_INLINE',
      `The text has ${bytes} bytes and at most ${limits.inlineBytes} may stand inline. Name a file, a ` +
        'repository or an artifact instead.',
      { path: 'params.message.parts', limitBytes: limits.inlineBytes },
    );
  }
  return noteMessage(queue, principal, state.taskId, { messageId: message.messageId, text });
}

/** A client that lost the reply to its answer sends it again; that is no news. */
function isAnswerAgain(state: TaskState, { id }: Principal, text: string): boolean {
  const last = state.decisions.at(-1);
  return last?.by === id && last.value.toLowerCase() === text.trim().toLowerCase();
}

import { Message as MessageCodec, Role, type Message, type Part } from '@a2a-js/sdk';
import type { Decision, TaskState } from '../../fabric/domain/state.ts';
import type { Question } from '../../fabric/domain/task.ts';
import { textPart } from './task-artifacts.ts';

/**
 * What was said about a task, eldest first: the message it began with, questions and answers, and
 * what others added.
 * @param most at most that many of the newest; 0 = none; undefined = all
 */
export function historyOf(state: TaskState, most: number | undefined): Message[] {
  if (most === 0) return [];
  const said = [
    { atMs: state.submittedAtMs, messages: [firstMessage(state)] },
    ...state.decisions.map((decision) => ({
      atMs: decision.atMs,
      messages: answeredMessages(state, decision),
    })),
    ...state.notes.map(({ messageId, text, atMs }) => ({
      atMs,
      messages: [messageOf(state, Role.ROLE_USER, messageId, text)],
    })),
    ...(state.question
      ? [{ atMs: state.phaseAtMs, messages: [questionMessage(state, state.question)] }]
      : []),
  ];
  const all = said.sort((one, other) => one.atMs - other.atMs).flatMap(({ messages }) => messages);
  return most === undefined ? all : all.slice(-most);
}

export const questionMessage = (state: TaskState, question: Question): Message =>
  messageOf(state, Role.ROLE_AGENT, question.decisionId, question.text);

/** A message of the agent; its id is made from what it says, so that it stays the same. */
export const agentMessage = (state: TaskState, messageId: string, text: string): Message =>
  messageOf(state, Role.ROLE_AGENT, messageId, text);

function firstMessage(state: TaskState): Message {
  const { task, taskId } = state;
  const message = messageOf(state, Role.ROLE_USER, task.messageId ?? taskId, task.intent.body);
  return task.parts ? { ...message, parts: partsFrom(task.parts) } : message;
}

function partsFrom(parts: NonNullable<TaskState['task']['parts']>): Part[] {
  return MessageCodec.fromJSON({ messageId: '', role: 'ROLE_USER', parts }).parts;
}

function answeredMessages(state: TaskState, decision: Decision): Message[] {
  const { decisionId, text, value, note } = decision;
  const answer = note === undefined ? value : `${value}\n\n${note}`;
  return [
    messageOf(state, Role.ROLE_AGENT, decisionId, text),
    messageOf(state, Role.ROLE_USER, `${decisionId}-answer`, answer),
  ];
}

function messageOf(
  { taskId, contextId }: TaskState,
  role: Role,
  messageId: string,
  text: string,
): Message {
  return {
    messageId,
    taskId,
    contextId,
    role,
    parts: [textPart(text)],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  };
}

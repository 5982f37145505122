import { exitCodes } from '../exit-codes.ts';
import type { Result } from '../session.ts';
import {
  artifactText,
  optionsOf,
  partsText,
  phaseOf,
  stateOf,
  textOf,
  type WireTask,
} from '../../agents/calls/wire-task.ts';
import { oneLine, printable } from './printable.ts';

/** A followed task as the result of `send`: its answer, or what it waits for and how to go on. */
export function answerResult(task: WireTask): Result {
  const id = task.id.slice(0, 8);
  const state = stateOf(task);
  const ask = textOf(task.metadata?.['ask']);
  if (isDone(task)) {
    const toVerify = ask === 'verify' ? `\n\nAccept it with: mesh verify ${id}` : '';
    return { data: task, text: `${artifactsText(task)}${toVerify}` };
  }
  const said = task.status.message ? printable(partsText(task.status.message)) : '';
  if (state === 'INPUT_REQUIRED') {
    const text = [
      `Task ${id} asks:`,
      said || 'a question',
      `Answer with: mesh answer ${id} ${choiceOf(task)}`,
    ];
    return { data: task, text: text.join('\n'), exitCode: exitCodes.taskWaits };
  }
  if (state === 'SUBMITTED' || state === 'WORKING') {
    const waits = printable(textOf(task.metadata?.['waits']) ?? '');
    const text = [
      `Task ${id} is not done yet. ${waits}`.trim(),
      `Follow it with: mesh watch ${id}`,
    ];
    return { data: task, text: text.join('\n'), exitCode: exitCodes.taskWaits };
  }
  const reason = said || printable(textOf(task.metadata?.['reason']) ?? 'no reason was given');
  return {
    data: task,
    text: `Task ${id} ended as ${state.toLowerCase()}: ${reason}\nSee: mesh show ${id}`,
    exitCode: exitCodes.taskFailed,
  };
}

const isDone = (task: WireTask): boolean =>
  stateOf(task) === 'COMPLETED' || phaseOf(task) === 'done';

/** Which task gave the answer and how sure it is, for a line beside it; undefined where there is none. */
export function doneWord(task: WireTask): string | undefined {
  if (!isDone(task)) return undefined;
  const isVerified = task.metadata?.['verification'] === 'verified';
  const id = task.id.slice(0, 8);
  return `Task ${id} is done, ${isVerified ? 'verified' : 'not verified'}. See: mesh show ${id}`;
}

/** How an answer is written: one of the options, or words of one's own. */
function choiceOf(task: WireTask): string {
  const words = optionsOf(task);
  return words.length === 0 ? '"…"' : words.map((word) => oneLine(word)).join('|');
}

/** The texts of all artifacts; a name stands before each where there are several. */
export function artifactsText({ artifacts }: Pick<WireTask, 'artifacts'>): string {
  const texts = artifacts.map((artifact) => {
    const text = printable(artifactText(artifact)).trimEnd();
    return artifacts.length > 1 ? `${artifact.name ?? artifact.artifactId}:\n${text}` : text;
  });
  return texts.join('\n\n') || 'It is done and left no text.';
}

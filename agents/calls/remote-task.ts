import type { A2aState } from '../../fabric/domain/a2a-state.ts';
import {
  artifactText,
  isAtRest,
  optionsOf,
  partsText,
  phaseOf,
  stateOf,
  textOf,
  type WireTask,
} from './wire-task.ts';

/** A task that another agent has, as its caller sees it. All text in it is somebody else's. */
export interface RemoteTask {
  readonly taskId: string;
  readonly contextId?: string;
  readonly state: A2aState;
  /** Whether waiting for it is over: ended, asking, or done and to be verified. */
  readonly isAtRest: boolean;
  /** Ours; absent for a foreign agent's task. */
  readonly phase?: string;
  readonly reason?: string;
  /** What the caller is asked: `verify`, or the kind of the open question. */
  readonly ask?: string;
  /** Text of the status: the question, or why it failed. */
  readonly said?: string;
  readonly options?: readonly string[];
  /** What it waits for, in one sentence. */
  readonly waits?: string;
  /** Texts of its artifacts, joined; where one is elsewhere, its address. */
  readonly result: string;
}

export function toRemoteTask(task: WireTask): RemoteTask {
  const { metadata, contextId } = task;
  const { message } = task.status;
  const phase = phaseOf(task);
  const reason = textOf(metadata?.['reason']);
  const ask = textOf(metadata?.['ask']);
  const waits = textOf(metadata?.['waits']);
  const said = message ? partsText(message) : '';
  const options = optionsOf(task);
  return {
    taskId: task.id,
    ...(contextId !== undefined && { contextId }),
    state: stateOf(task),
    isAtRest: isAtRest(task),
    ...(phase !== undefined && { phase }),
    ...(reason !== undefined && { reason }),
    ...(ask !== undefined && { ask }),
    ...(said !== '' && { said }),
    ...(options.length > 0 && { options }),
    ...(waits !== undefined && { waits }),
    result: task.artifacts
      .map(artifactText)
      .filter((text) => text !== '')
      .join('\n\n'),
  };
}

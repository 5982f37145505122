import { MeshError } from '../fabric/domain/errors.ts';
import type { MeshConnection } from './mesh-connection.ts';
import { rpc, rpcStream, type RpcCall } from './rpc.ts';
import type { Session } from './session.ts';
import type { Submission } from './submission.ts';
import {
  isAtRest,
  partsText,
  phaseOf,
  stateOf,
  StreamFrame,
  WireTask,
  type WireArtifact,
} from '../agents/calls/wire-task.ts';

const pollMs = 1_000;
/** How long the last look may take, once the time that was given is over. */
const lastLookMs = 3_000;

/** Said where a task lies in a home that no mesh serves. */
export const waitsForMesh = 'No mesh runs here: it waits until the next `mesh up`.';
export const waitsOnBoard =
  'No mesh runs here: one elsewhere on its board takes it, or the next `mesh up`.';

/** What came of a message: a Task, or a foreign agent's bare answer. */
export type Reply = { readonly task: WireTask } | { readonly text: string };

export interface FollowOptions {
  readonly timeoutMs?: number;
  onFrame?(frame: StreamFrame): void;
}

/**
 * Sends and follows a task until nothing more comes by itself, or until the time-out. A stream that
 * breaks off loses nothing: the task is read until it rests. Where no mesh runs, it ends as soon as no run of
 * its own goes on. Ctrl-C prints its id and how to go on.
 */
export async function sendAndFollow(
  session: Session,
  mesh: MeshConnection,
  submission: Submission,
  options: FollowOptions = {},
): Promise<Reply> {
  const { agentId, message, messageId } = submission;
  const timeout = timeoutOf(session, options.timeoutMs);
  session.onInterrupt(
    `Stopped before the mesh had answered. The same again with --key ${messageId} names the same task.`,
  );
  const call = {
    ...(agentId === undefined ? {} : { agentId }),
    method: 'SendStreamingMessage',
    params: { message },
    signal: AbortSignal.any([session.signal, timeout.signal]),
  };
  let task: WireTask | undefined;
  try {
    for await (const frame of rpcStream(mesh, call, StreamFrame)) {
      options.onFrame?.(frame);
      if ('message' in frame) return { text: partsText(frame.message) };
      task = withFrame(task, frame);
      if (task) tellState(session, mesh, task);
      const left = task && (await leftLying(session, mesh, { agentId, task }));
      if (left) return { task: left };
    }
  } catch (error) {
    if (session.signal.aborted || task === undefined) throw error;
    if (!timeout.isOver()) unlessAway(error);
  } finally {
    timeout.end();
  }
  if (task === undefined) throw new Error('the stream ended without a task');
  if (isAtRest(task)) return { task };
  const followed = { agentId, task };
  return {
    task: timeout.isOver()
      ? await asItIsNow(session, mesh, followed)
      : await untilAtRest(session, mesh, followed, timeout.isOver),
  };
}

interface Followed {
  readonly agentId: string | undefined;
  readonly task: WireTask;
}

const reading = (session: Session, { agentId, task }: Followed): RpcCall => ({
  ...(agentId === undefined ? {} : { agentId }),
  method: 'GetTask',
  params: { id: task.id },
  signal: session.signal,
});

const running: ReadonlySet<string> = new Set(['claimed', 'working']);

/**
 * The task as it lies where no mesh runs and this command does not run it itself: nobody takes it, and to wait
 * would only keep everybody else from the home. A run may have begun since the frame was made, so it is read.
 */
async function leftLying(
  session: Session,
  mesh: MeshConnection,
  followed: Followed,
): Promise<WireTask | undefined> {
  const lies = (task: WireTask): boolean => {
    const phase = phaseOf(task);
    const isOpen = ['SUBMITTED', 'WORKING'].includes(stateOf(task));
    return isOpen && phase !== undefined && !running.has(phase);
  };
  if (!mesh.inProcess || !lies(followed.task)) return undefined;
  const now = await rpc(mesh, reading(session, followed), WireTask);
  if (!lies(now)) return undefined;
  session.note(waitsForMesh);
  return now;
}

/** The task with what the frame says; a first frame that is no Task is not ours to guess at. */
export function withFrame(
  task: WireTask | undefined,
  frame: Exclude<StreamFrame, { message: unknown }>,
): WireTask | undefined {
  if ('task' in frame) return frame.task;
  if (task === undefined) return undefined;
  if ('statusUpdate' in frame) {
    const { status, metadata } = frame.statusUpdate;
    return { ...task, status, metadata: withStanding(task.metadata, metadata) };
  }
  return { ...task, artifacts: withArtifact(task.artifacts, frame.artifactUpdate) };
}

/** What a mesh tells beside a task's standing; all else an update tells anew, or it holds no more. */
const lasting = new Set(['boardTaskId', 'boardUrl', 'reset']);

/** A foreign agent's update adds to what it said before; one of a mesh says all that holds now. */
function withStanding(before: WireTask['metadata'], now: WireTask['metadata']) {
  if (phaseOf({ metadata: now }) === undefined) return { ...before, ...now };
  const kept = Object.entries(before ?? {}).filter(([key]) => lasting.has(key));
  return { ...Object.fromEntries(kept), ...now };
}

function withArtifact(
  artifacts: readonly WireArtifact[],
  {
    artifact,
    append = false,
  }: { readonly artifact: WireArtifact; readonly append?: boolean | undefined },
): WireArtifact[] {
  const isIt = (one: WireArtifact): boolean => one.artifactId === artifact.artifactId;
  if (!artifacts.some(isIt)) return [...artifacts, artifact];
  return artifacts.map((one) => {
    if (!isIt(one)) return one;
    return append ? { ...one, parts: [...one.parts, ...artifact.parts] } : artifact;
  });
}

/** Why it waits may have changed since the stream's last word, without an event of its own. */
async function asItIsNow(
  session: Session,
  mesh: MeshConnection,
  followed: Followed,
): Promise<WireTask> {
  const call = reading(session, followed);
  const bound = timeoutOf(session, lastLookMs);
  const signal = AbortSignal.any([call.signal, bound.signal]);
  try {
    return await rpc(mesh, { ...call, signal }, WireTask);
  } catch (error) {
    if (session.signal.aborted) throw error;
    if (!bound.isOver()) unlessAway(error);
    return followed.task;
  } finally {
    bound.end();
  }
}

/**
 * Reads the task once a second until it rests, is past its time, or Ctrl-C. A mesh that is away, as it is
 * while it starts anew, is asked again: the task is kept there.
 */
async function untilAtRest(
  session: Session,
  mesh: MeshConnection,
  followed: Followed,
  isOver: () => boolean,
): Promise<WireTask> {
  const { task } = followed;
  const call = reading(session, followed);
  let latest = task;
  while (!isAtRest(latest) && !isOver()) {
    await session.clock.sleep(pollMs, session.signal);
    session.signal.throwIfAborted();
    const read = await rpc(mesh, call, WireTask).catch(unlessAway);
    if (read === undefined) {
      session.progress(`${task.id.slice(0, 8)}: the mesh does not answer; asking again`);
      continue;
    }
    latest = read;
    tellState(session, mesh, latest);
  }
  return latest;
}

function unlessAway(error: unknown): undefined {
  if (!(error instanceof MeshError && error.code === 'FABRIC_DOWN')) throw error;
}

function tellState(session: Session, mesh: MeshConnection, task: WireTask): void {
  const id = task.id.slice(0, 8);
  session.progress(`${id} is ${stateOf(task).toLowerCase().replaceAll('_', ' ')}`);
  session.onInterrupt(
    mesh.inProcess
      ? `Stopped waiting for task ${id}. It is kept and goes on at the next \`mesh up\`.`
      : `Stopped waiting; task ${id} goes on. See it with \`mesh show ${id}\`, follow it with \`mesh watch ${id}\`, end it with \`mesh cancel ${id}\`.`,
  );
}

interface Timeout {
  readonly signal: AbortSignal;
  readonly isOver: () => boolean;
  readonly end: () => void;
}

function timeoutOf({ clock, signal }: Session, timeoutMs: number | undefined): Timeout {
  const over = new AbortController();
  const done = new AbortController();
  const endMs = timeoutMs === undefined ? Infinity : clock.monotonicMs() + timeoutMs;
  if (timeoutMs !== undefined) {
    void clock.sleep(timeoutMs, AbortSignal.any([signal, done.signal])).then(() => {
      if (!done.signal.aborted) over.abort();
    });
  }
  return {
    signal: over.signal,
    isOver: () => clock.monotonicMs() >= endMs,
    end: () => {
      done.abort();
    },
  };
}

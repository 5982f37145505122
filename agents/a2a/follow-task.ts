import type { StreamResponse } from '@a2a-js/sdk';
import { isTerminal } from '../../fabric/domain/a2a-state.ts';
import type { TaskState } from '../../fabric/domain/state.ts';
import type { Call } from './call.ts';
import type { Edge } from './edge.ts';
import type { Delivery } from './frame-queue.ts';
import type { Subscription } from './task-actors.ts';
import { answerArtifactId, artifact, artifactsOf, textPart } from './task-artifacts.ts';
import { agentMessage } from './task-history.ts';
import { baseUrlOf, metadataOf, statusOf, toTask, viewFor } from './task-view.ts';

export interface Following {
  readonly historyLength?: number | undefined;
  /** Whether the present state ends the stream, where it asks somebody for something. */
  readonly endsAtOnce: boolean;
}

/**
 * A task's stream for one caller: first the Task, then what happens, until it is terminal or asks for
 * something (a finished task: only whoever may verify it). Ends too when the caller is too slow or has
 * gone; the task goes on in any case (H1).
 */
export async function* followTask(
  edge: Edge,
  call: Call,
  subscription: Subscription,
  { historyLength, endsAtOnce }: Following,
): AsyncGenerator<StreamResponse, void, undefined> {
  const hangUp = () => subscription.close();
  call.gone.addEventListener('abort', hangUp, { once: true });
  if (call.gone.aborted) hangUp();
  try {
    for (const delivery of subscription.replay) {
      yield handedOut(call, delivery, await drawn(edge, call, delivery));
    }
    const { snapshot, isReset, id } = subscription;
    if (snapshot) {
      const { principal } = call;
      const viewing = { principal, historyLength, runningText: snapshot.text };
      const task = await toTask(edge, snapshot.state, viewing);
      if (isReset) task.metadata = { ...task.metadata, reset: true };
      call.eventId = id;
      yield { payload: { $case: 'task', value: task } };
    }
    if (isOver(subscription.state, call, endsAtOnce)) return;
    for (let next = await subscription.next(); next; next = await subscription.next()) {
      await next.committed;
      yield handedOut(call, next, await drawn(edge, call, next));
      if (next.frame.kind === 'state' && isOver(next.state, call, true)) return;
    }
  } finally {
    call.gone.removeEventListener('abort', hangUp);
    subscription.close();
  }
}

function handedOut(call: Call, { id }: Delivery, response: StreamResponse): StreamResponse {
  call.eventId = id;
  return response;
}

/** A task that is done and waits for others to verify it goes on for everybody else. */
function isOver(state: TaskState, { principal }: Call, endsAtQuestions: boolean): boolean {
  const view = viewFor(state, principal);
  if (isTerminal(view.state)) return true;
  return endsAtQuestions && view.state === 'INPUT_REQUIRED';
}

async function drawn(edge: Edge, call: Call, delivery: Delivery): Promise<StreamResponse> {
  const { frame, state } = delivery;
  switch (frame.kind) {
    case 'state':
      return statusUpdate(state, call);
    case 'progress':
      return statusUpdate(state, call, { text: frame.text, of: delivery });
    case 'chunk':
      return artifactUpdate(state, {
        artifact: artifact(answerArtifactId, [textPart(frame.text)]),
        append: !frame.first,
        lastChunk: false,
      });
    case 'artifact': {
      const source = { artifacts: edge.queue.artifacts, baseUrl: baseUrlOf(edge) };
      const made = (await artifactsOf(source, state, ''))[frame.index];
      return artifactUpdate(state, { artifact: made, append: false, lastChunk: true });
    }
  }
}

function statusUpdate(
  state: TaskState,
  { principal }: Call,
  progress?: { readonly text: string; readonly of: Delivery },
): StreamResponse {
  const { taskId, contextId } = state;
  const view = viewFor(state, principal);
  const status = statusOf(state, view);
  if (progress) {
    const messageId = `${taskId}-progress-${progress.of.id.sequence}`;
    status.message = agentMessage(state, messageId, progress.text);
  }
  const metadata = metadataOf(state, view);
  return { payload: { $case: 'statusUpdate', value: { taskId, contextId, status, metadata } } };
}

type ArtifactUpdate = Extract<
  NonNullable<StreamResponse['payload']>,
  { $case: 'artifactUpdate' }
>['value'];

function artifactUpdate(
  { taskId, contextId }: TaskState,
  update: Pick<ArtifactUpdate, 'artifact' | 'append' | 'lastChunk'>,
): StreamResponse {
  const value = { taskId, contextId, metadata: undefined, ...update };
  return { payload: { $case: 'artifactUpdate', value } };
}

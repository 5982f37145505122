import {
  AgentCard,
  type CancelTaskRequest,
  type GetTaskRequest,
  type ListTasksRequest,
  type ListTasksResponse,
  type SendMessageRequest,
  type StreamResponse,
  type SubscribeToTaskRequest,
  type Task,
} from '@a2a-js/sdk';
import type { A2ARequestHandler, ServerCallContext } from '@a2a-js/sdk/server';
import { isTerminal } from '../../fabric/domain/a2a-state.ts';
import { callOf, type Call } from './call.ts';
import { cancelAndWait } from './cancel-task.ts';
import { checkConfiguration, checkInputModes } from './card-modes.ts';
import { continueTask, type Continued } from './continue-task.ts';
import type { Edge } from './edge.ts';
import { followTask } from './follow-task.ts';
import { listTasks } from './list-tasks.ts';
import { acceptNewTask, type Accepted, type Mode } from './new-task.ts';
import { ProtocolError } from './protocol-error.ts';
import { runAtOnce } from './run-at-once.ts';
import { toTask, viewFor } from './task-view.ts';
import { visibleTask } from './visible-task.ts';

/**
 * The protocol's methods over the queue's use cases. The SDK's own handler loses a task when its
 * caller hangs up, runs two executors on one task and waits for the store at each event (H1–H3).
 */
export class MeshRequestHandler implements A2ARequestHandler {
  readonly #edge: Edge;
  readonly #card: AgentCard;

  constructor(edge: Edge) {
    this.#edge = edge;
    // The transports only ask it whether streams are served; the routes give out the real one.
    this.#card = AgentCard.fromJSON({ name: edge.agentId, capabilities: { streaming: true } });
  }

  getAgentCard(): Promise<AgentCard> {
    return Promise.resolve(this.#card);
  }

  sendMessage(params: SendMessageRequest, context: ServerCallContext): Promise<Task> {
    return kept(context, (call) => this.#send(params, call));
  }

  sendMessageStream(
    params: SendMessageRequest,
    context: ServerCallContext,
  ): AsyncGenerator<StreamResponse, void, undefined> {
    return keptStream(context, (call) => this.#sendAndFollow(params, call));
  }

  getTask({ id, historyLength }: GetTaskRequest, context: ServerCallContext): Promise<Task> {
    return kept(context, async ({ principal }) => {
      const { state, ref } = await visibleTask(this.#edge, principal, id);
      return toTask(this.#edge, state, { principal, historyLength, ...(ref ? { ref } : {}) });
    });
  }

  listTasks(request: ListTasksRequest, context: ServerCallContext): Promise<ListTasksResponse> {
    return kept(context, ({ principal }) => listTasks(this.#edge, principal, request));
  }

  cancelTask({ id }: CancelTaskRequest, context: ServerCallContext): Promise<Task> {
    return kept(context, async (call) => {
      const { state } = await visibleTask(this.#edge, call.principal, id);
      const after = await cancelAndWait(this.#edge, call, state);
      return toTask(this.#edge, after, { principal: call.principal });
    });
  }

  resubscribe(
    { id }: SubscribeToTaskRequest,
    context: ServerCallContext,
  ): AsyncGenerator<StreamResponse, void, undefined> {
    return keptStream(context, (call) => this.#subscribe(id, call));
  }

  createTaskPushNotificationConfig(_params: unknown, context: ServerCallContext): Promise<never> {
    return kept(context, noPush);
  }

  getTaskPushNotificationConfig(_params: unknown, context: ServerCallContext): Promise<never> {
    return kept(context, noPush);
  }

  listTaskPushNotificationConfigs(_params: unknown, context: ServerCallContext): Promise<never> {
    return kept(context, noPush);
  }

  deleteTaskPushNotificationConfig(_params: unknown, context: ServerCallContext): Promise<never> {
    return kept(context, noPush);
  }

  getAuthenticatedExtendedAgentCard(_params: unknown, context: ServerCallContext): Promise<never> {
    return kept(context, () => {
      const advice = 'The full card is at /.well-known/agent-card.json, with a credential.';
      throw new ProtocolError('UNSUPPORTED_OPERATION', `There is no extended card. ${advice}`);
    });
  }

  async #send({ message, configuration }: SendMessageRequest, call: Call): Promise<Task> {
    const edge = this.#edge;
    const { principal, gone } = call;
    const waits = !(configuration?.returnImmediately ?? false);
    const mode: Mode = { waits, streams: false };
    const accepted = await this.#accepted({ message, configuration }, call, mode);
    const begun = await begin(edge, accepted);
    const state =
      waits && !accepted.isParked && isAwaited(accepted)
        ? await edge.actors.waitUntilResting(begun, principal, { waitMs: edge.waitMs, gone })
        : begun;
    return toTask(edge, state, { principal, historyLength: configuration?.historyLength });
  }

  async *#sendAndFollow(
    { message, configuration }: SendMessageRequest,
    call: Call,
  ): AsyncGenerator<StreamResponse, void, undefined> {
    const mode: Mode = { waits: true, streams: true };
    const accepted = await this.#accepted({ message, configuration }, call, mode);
    const subscription = await this.#edge.actors
      .subscribe(accepted.state.taskId)
      .catch((error: unknown) => {
        accepted.place?.giveBack();
        throw error;
      });
    await begin(this.#edge, accepted).catch((error: unknown) => {
      subscription.close();
      throw error;
    });
    const historyLength = configuration?.historyLength;
    yield* followTask(this.#edge, call, subscription, { historyLength, endsAtOnce: true });
  }

  async *#subscribe(id: string, call: Call): AsyncGenerator<StreamResponse, void, undefined> {
    const { state } = await visibleTask(this.#edge, call.principal, id);
    const hasEnded = isTerminal(viewFor(state, call.principal).state);
    // Who goes on from an event may have missed the end, and gets it; nobody else gets a dead stream.
    if (hasEnded && call.resume === undefined) {
      const { taskId, phase } = state;
      const message = `Task ${taskId} has ended (${phase}) and streams no more. Read it with GetTask.`;
      throw new ProtocolError('UNSUPPORTED_OPERATION', message, { taskId, phase });
    }
    const subscription = await this.#edge.actors.subscribe(state.taskId, call.resume);
    yield* followTask(this.#edge, call, subscription, { endsAtOnce: false });
  }

  async #accepted(
    { message, configuration }: Pick<SendMessageRequest, 'message' | 'configuration'>,
    { principal }: Call,
    mode: Mode,
  ): Promise<Accepted | Continued> {
    if (message === undefined) throw new Error('The schema lets no request without message pass.');
    checkConfiguration(configuration);
    checkInputModes(message);
    return message.taskId === ''
      ? acceptNewTask(this.#edge, principal, message, mode)
      : continueTask(this.#edge, principal, message, mode);
  }
}

/** A note changes nothing, so there is nothing to wait for. */
const isAwaited = (accepted: Accepted | Continued): boolean =>
  !('isAnswer' in accepted) || accepted.isAnswer;

async function begin(edge: Edge, { state, place }: Accepted) {
  return place ? runAtOnce(edge, state, place) : state;
}

const noPush = (): never => {
  throw new ProtocolError(
    'PUSH_NOTIFICATION_NOT_SUPPORTED',
    'Push notifications are not served. Stream the task, or read it again.',
  );
};

/** Keeps what went wrong: the transport turns it into an error of its own, which loses our code. */
async function kept<T>(
  context: ServerCallContext,
  work: (call: Call) => T | Promise<T>,
): Promise<T> {
  const call = callOf(context);
  try {
    return await work(call);
  } catch (error) {
    call.failure = error;
    throw error;
  }
}

async function* keptStream<T>(
  context: ServerCallContext,
  work: (call: Call) => AsyncGenerator<T, void, undefined>,
): AsyncGenerator<T, void, undefined> {
  const call = callOf(context);
  try {
    yield* work(call);
  } catch (error) {
    call.failure = error;
    throw error;
  }
}

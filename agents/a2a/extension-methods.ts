import type { TaskState } from '../../fabric/domain/state.ts';
import { answerQuestion } from '../../fabric/queue/answer.ts';
import { steerTask, type Edit, type Steering } from '../../fabric/queue/steer.ts';
import { verifyTask } from '../../fabric/queue/verify.ts';
import { whyWaiting } from '../../fabric/queue/why.ts';
import type { Call } from './call.ts';
import { isRouter, type Edge } from './edge.ts';
import {
  AnswerParams,
  ProgressParams,
  RouteParams,
  SteerParams,
  VerifyParams,
  WhyParams,
} from './extension-schemas.ts';
import { parsedOrRefused } from './invalid-params.ts';
import { ProtocolError } from './protocol-error.ts';
import { addProgress } from './run-progress.ts';
import { surroundingsOf } from './surroundings.ts';
import { visibleTask } from './visible-task.ts';

/** What a method of ours has come to: the task after it, or something to tell. */
export type ExtensionResult =
  | { readonly kind: 'task'; readonly taskId: TaskState['taskId'] }
  | { readonly kind: 'value'; readonly value: object };

type ExtensionMethod = (edge: Edge, call: Call, params: unknown) => Promise<ExtensionResult>;

/** Methods of `urn:cardmesh:ext:review:v1`, and steering by people; each the same in 0.3 and 1.0. */
const methods = new Map<string, ExtensionMethod>([
  ['cardmesh/answer', answer],
  ['cardmesh/verify', verify],
  ['cardmesh/why', why],
  ['cardmesh/route', route],
  ['cardmesh/progress', progress],
  ['cardmesh/steer', steer],
]);

export const extensionMethod = (name: string): ExtensionMethod | undefined => methods.get(name);

async function answer(edge: Edge, { principal }: Call, params: unknown): Promise<ExtensionResult> {
  const { taskId, note, ...given } = parsedOrRefused(AnswerParams, params, 'params');
  const { uid } = await visibleTask(edge, principal, taskId);
  const noted = note === undefined ? {} : { note };
  return taskOf(await answerQuestion(edge.queue, { principal, uid, ...given, ...noted }));
}

async function verify(edge: Edge, { principal }: Call, params: unknown): Promise<ExtensionResult> {
  const parsed = parsedOrRefused(VerifyParams, params, 'params');
  const { taskId, verdict, note, commit, rework } = parsed;
  const { uid } = await visibleTask(edge, principal, taskId);
  const state = await verifyTask(edge.queue, {
    principal,
    uid,
    verdict,
    ...(note === undefined ? {} : { note }),
    ...(commit === undefined ? {} : { commit }),
    ...(rework === undefined ? {} : { rework }),
  });
  return taskOf(state);
}

async function why(edge: Edge, { principal }: Call, params: unknown): Promise<ExtensionResult> {
  const { taskId } = parsedOrRefused(WhyParams, params, 'params');
  const { state } = await visibleTask(edge, principal, taskId);
  const { around, forecast } = await surroundingsOf(edge, state);
  const sentence = whyWaiting(state, around);
  const candidates = forecast && { candidates: forecast.candidates };
  const hold = around.hold && { hold: around.hold };
  return { kind: 'value', value: { sentence, ...candidates, ...hold } };
}

async function progress(
  edge: Edge,
  { principal }: Call,
  params: unknown,
): Promise<ExtensionResult> {
  await addProgress(edge, principal, parsedOrRefused(ProgressParams, params, 'params'));
  return { kind: 'value', value: {} };
}

async function route(edge: Edge, { principal }: Call, params: unknown): Promise<ExtensionResult> {
  const { target, text, score } = parsedOrRefused(RouteParams, params, 'params');
  if (edge.foretell === undefined || !isRouter(edge)) {
    throw new ProtocolError(
      'UNSUPPORTED_OPERATION',
      `${edge.agentId} chooses nobody: ask the router, at the front's own address.`,
    );
  }
  const wish = {
    submitterId: principal.id,
    submitterRole: principal.role,
    target,
    text,
    caller: 'interactive' as const,
    ...(score === undefined ? {} : { score }),
  };
  return { kind: 'value', value: await edge.foretell(wish) };
}

async function steer(edge: Edge, { principal }: Call, params: unknown): Promise<ExtensionResult> {
  const parsed = parsedOrRefused(SteerParams, params, 'params');
  const { uid } = await visibleTask(edge, principal, parsed.taskId);
  return taskOf(await steerTask(edge.queue, principal, uid, steeringOf(parsed)));
}

function steeringOf(parsed: ReturnType<typeof SteerParams.parse>): Steering {
  switch (parsed.do) {
    case 'deadletter':
      return { do: 'deadletter', reason: parsed.reason };
    case 'revoke':
      return { do: 'revoke', to: parsed.to };
    case 'edit':
      return { do: 'edit', edit: given(parsed.edit) };
    case 'received': {
      const { noticeId, receiptId, queueReceiptId } = parsed;
      const queued = queueReceiptId === undefined ? {} : { queueReceiptId };
      return { do: 'received', noticeId, receiptId, ...queued };
    }
    default:
      return { do: parsed.do };
  }
}

/** Leaves out what was not given; null is given, it takes a field away. */
function given(edit: { readonly [K in keyof Edit]: Edit[K] | undefined }): Edit {
  return Object.fromEntries(Object.entries(edit).filter(([, value]) => value !== undefined));
}

const taskOf = ({ taskId }: TaskState): ExtensionResult => ({ kind: 'task', taskId });

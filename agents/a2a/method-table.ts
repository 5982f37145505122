import type { z } from 'zod';
import type { Scope } from '../../fabric/domain/principal.ts';
import { steeringScopes } from '../../fabric/queue/steer.ts';
import {
  AnswerParams,
  ProgressParams,
  RouteParams,
  SteerAction,
  SteerParams,
  VerifyParams,
  WhyParams,
} from './extension-schemas.ts';
import { LegacySendParams, LegacyTaskParams } from './legacy-schemas.ts';
import {
  GetTaskParams,
  ListTasksParams,
  NoParams,
  PushParams,
  SendMessageParams,
  TaskParams,
} from './request-schemas.ts';
import type { WireVersion } from './wire-version.ts';

/** The policy row of one method: who may call it, and what its parameters look like. */
export interface MethodRow {
  /** `ours`: an extension method, the same in both generations. */
  readonly speaks: WireVersion | 'ours';
  /** By its parameters, not yet checked, where one method does several things. */
  readonly scope: Scope | ((params: unknown) => Scope);
  readonly params: z.ZodType;
  /** Whether a credential that is bound to a run may call it, for its task or children of that. */
  readonly forRuns?: true;
}

const send = { scope: 'tasks:submit', forRuns: true } as const;
const read = { scope: 'tasks:read' } as const;

/** Every method that is served; one that is not here is answered -32601. */
const rows: Readonly<Record<string, MethodRow>> = {
  SendMessage: { ...send, speaks: '1.0', params: SendMessageParams },
  SendStreamingMessage: { ...send, speaks: '1.0', params: SendMessageParams },
  GetTask: { ...read, speaks: '1.0', params: GetTaskParams, forRuns: true },
  ListTasks: { ...read, speaks: '1.0', params: ListTasksParams },
  CancelTask: { speaks: '1.0', scope: 'tasks:cancel', params: TaskParams },
  SubscribeToTask: { ...read, speaks: '1.0', params: TaskParams, forRuns: true },
  CreateTaskPushNotificationConfig: { ...read, speaks: '1.0', params: PushParams },
  GetTaskPushNotificationConfig: { ...read, speaks: '1.0', params: PushParams },
  ListTaskPushNotificationConfigs: { ...read, speaks: '1.0', params: PushParams },
  DeleteTaskPushNotificationConfig: { ...read, speaks: '1.0', params: PushParams },
  GetExtendedAgentCard: { speaks: '1.0', scope: 'cards:read', params: NoParams },

  'message/send': { ...send, speaks: '0.3', params: LegacySendParams },
  'message/stream': { ...send, speaks: '0.3', params: LegacySendParams },
  'tasks/get': { ...read, speaks: '0.3', params: LegacyTaskParams, forRuns: true },
  'tasks/cancel': { speaks: '0.3', scope: 'tasks:cancel', params: LegacyTaskParams },
  'tasks/resubscribe': { ...read, speaks: '0.3', params: LegacyTaskParams, forRuns: true },
  'tasks/pushNotificationConfig/set': { ...read, speaks: '0.3', params: PushParams },
  'tasks/pushNotificationConfig/get': { ...read, speaks: '0.3', params: PushParams },
  'tasks/pushNotificationConfig/list': { ...read, speaks: '0.3', params: PushParams },
  'tasks/pushNotificationConfig/delete': { ...read, speaks: '0.3', params: PushParams },
  'agent/getAuthenticatedExtendedCard': { speaks: '0.3', scope: 'cards:read', params: NoParams },

  'cardmesh/answer': { speaks: 'ours', scope: 'tasks:answer', params: AnswerParams },
  'cardmesh/verify': { speaks: 'ours', scope: 'tasks:verify', params: VerifyParams },
  'cardmesh/why': { ...read, speaks: 'ours', params: WhyParams },
  'cardmesh/route': { speaks: 'ours', scope: 'cards:read', params: RouteParams },
  'cardmesh/progress': { ...send, speaks: 'ours', params: ProgressParams },
  'cardmesh/steer': { speaks: 'ours', scope: scopeToSteer, params: SteerParams },
};

/** For what is no steering any scope does that a person has: its parameters are refused. */
function scopeToSteer(params: unknown): Scope {
  const action = SteerAction.safeParse(params);
  return action.success ? steeringScopes[action.data.do] : 'tasks:read';
}

/** The scope that a call with these parameters takes. */
export const scopeFor = ({ scope }: MethodRow, params: unknown): Scope =>
  typeof scope === 'function' ? scope(params) : scope;

/** The row of a method in that generation. */
export function methodRow(method: string, version: WireVersion): MethodRow | undefined {
  const row = Object.hasOwn(rows, method) ? rows[method] : undefined;
  return row?.speaks === version || row?.speaks === 'ours' ? row : undefined;
}

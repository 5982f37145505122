import { z } from 'zod';

/**
 * Parameters of the 1.0 methods as ProtoJSON has them: unknown fields pass, null is "not given". The
 * SDK's codecs take what is missing or of another kind in silence, so it is checked here (H5).
 */

/** In this mode a surrogate matches only where its other half is missing. */
const loneSurrogate = /\p{Surrogate}/u;
const wellFormed = (text: string) => !loneSurrogate.test(text);
const unicode = 'a text of whole Unicode characters (no lone surrogate)';

/** A text that every store and wire keeps as it is. */
export const Text = z.string().refine(wellFormed, `must be ${unicode}`);
const ShortText = Text.max(256);
const name = ShortText.nullish();
export const Metadata = z.record(z.string(), z.unknown()).nullish();

const base64 = /^[A-Za-z0-9+/_-]*={0,2}$/;
const contents = ['text', 'raw', 'url', 'data'] as const;

const Part = z
  .looseObject({
    text: Text.nullish(),
    raw: z.string().regex(base64, 'must be base64').nullish(),
    url: Text.max(4_096).nullish(),
    data: z.unknown().optional(),
    mediaType: name,
    filename: name,
    metadata: Metadata,
  })
  .superRefine((part, context) => {
    const given = contents.filter((content) => part[content] != null);
    if (given.length === 1) return;
    const found = given.length === 0 ? 'none of them' : given.join(' and ');
    context.addIssue(`must have exactly one of text, raw, url, data and has ${found}`);
  });

const userRole = z.union(
  [z.literal('ROLE_USER'), z.literal(1)],
  'must be ROLE_USER; only clients send messages here',
);

export const Message = z.looseObject({
  messageId: Text.min(1).max(256),
  role: userRole,
  parts: z.array(Part).min(1).max(32),
  contextId: Text.max(128).nullish(),
  taskId: Text.max(128).nullish(),
  metadata: Metadata,
  extensions: z.array(ShortText).max(64).nullish(),
  referenceTaskIds: z.array(ShortText).max(64).nullish(),
});

const HistoryLength = z.int().min(0).nullish();
/** We have no tenants; one that is named is somebody's mistake, never silently believed (H4). */
const Tenant = z.literal('', 'must be absent: this agent has no tenants').nullish();
const TaskRef = Text.min(1).max(128).regex(/\S/, 'must name a task');

export const SendMessageParams = z.looseObject({
  tenant: Tenant,
  message: Message,
  configuration: z
    .looseObject({
      acceptedOutputModes: z.array(ShortText).max(64).nullish(),
      historyLength: HistoryLength,
      returnImmediately: z.boolean().nullish(),
      taskPushNotificationConfig: z.looseObject({}).nullish(),
    })
    .nullish(),
  metadata: Metadata,
});

export const GetTaskParams = z.looseObject({
  tenant: Tenant,
  id: TaskRef,
  historyLength: HistoryLength,
});
export const TaskParams = z.looseObject({ tenant: Tenant, id: TaskRef, metadata: Metadata });

const states = [
  'TASK_STATE_SUBMITTED',
  'TASK_STATE_WORKING',
  'TASK_STATE_COMPLETED',
  'TASK_STATE_FAILED',
  'TASK_STATE_CANCELED',
  'TASK_STATE_INPUT_REQUIRED',
  'TASK_STATE_REJECTED',
  'TASK_STATE_AUTH_REQUIRED',
  'TASK_STATE_UNSPECIFIED',
] as const;

export const ListTasksParams = z.looseObject({
  tenant: Tenant,
  contextId: Text.max(128).nullish(),
  status: z
    .union([z.enum(states), z.int().min(0).max(8)], `must be one of ${states.join(', ')}`)
    .nullish(),
  statusTimestampAfter: z.iso.datetime({ offset: true }).nullish(),
  pageSize: z.int().min(1).max(100).nullish(),
  pageToken: Text.max(2_048).nullish(),
  historyLength: HistoryLength,
  includeArtifacts: z.boolean().nullish(),
});

/** Push configurations are refused before anything is looked up; their fields don't matter yet. */
export const PushParams = z.looseObject({});
export const NoParams = z.looseObject({ tenant: Tenant });

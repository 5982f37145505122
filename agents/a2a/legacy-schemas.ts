import { z } from 'zod';
import { Metadata, Text } from './request-schemas.ts';

/** Parameters of the 0.3 methods; 0.2 clients send the same. Unknown fields pass. */

const name = Text.max(256).nullish();

const LegacyFile = z
  .looseObject({
    bytes: z.string().nullish(),
    uri: Text.max(4_096).nullish(),
    mimeType: name,
    name,
  })
  .refine(
    ({ bytes, uri }) => (bytes == null) !== (uri == null),
    'must have exactly one of bytes, uri',
  );

const LegacyPart = z.discriminatedUnion(
  'kind',
  [
    z.looseObject({ kind: z.literal('text'), text: Text, metadata: Metadata }),
    z.looseObject({ kind: z.literal('file'), file: LegacyFile, metadata: Metadata }),
    z.looseObject({
      kind: z.literal('data'),
      data: z.record(z.string(), z.unknown()),
      metadata: Metadata,
    }),
  ],
  'kind must be text, file or data',
);

const LegacyMessage = z.looseObject({
  kind: z.literal('message').optional(),
  messageId: Text.min(1).max(256),
  role: z.literal('user', 'must be "user"; only clients send messages here'),
  parts: z.array(LegacyPart).min(1).max(32),
  contextId: Text.max(128).optional(),
  taskId: Text.max(128).optional(),
  metadata: z.record(z.string(), z.unknown()).optional(),
  extensions: z.array(Text.max(256)).max(64).optional(),
  referenceTaskIds: z.array(Text.max(256)).max(64).optional(),
});

const HistoryLength = z.int().min(0).optional();

export const LegacySendParams = z.looseObject({
  message: LegacyMessage,
  configuration: z
    .looseObject({
      acceptedOutputModes: z.array(Text.max(256)).max(64).optional(),
      blocking: z.boolean().optional(),
      historyLength: HistoryLength,
      pushNotificationConfig: z.looseObject({}).optional(),
    })
    .optional(),
  metadata: z.record(z.string(), z.unknown()).optional(),
});

export const LegacyTaskParams = z.looseObject({
  id: Text.min(1).max(128).regex(/\S/, 'must name a task'),
  historyLength: HistoryLength,
  metadata: z.record(z.string(), z.unknown()).optional(),
});

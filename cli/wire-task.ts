import { z } from 'zod';
import { isAtRest as restsAt } from '../agents/calls/remote-task.ts';

const Part = z.looseObject({ text: z.string().optional(), url: z.string().optional() });

const Message = z.looseObject({
  messageId: z.string().optional(),
  parts: z.array(Part).default([]),
});

const Artifact = z.looseObject({
  artifactId: z.string(),
  name: z.string().optional(),
  parts: z.array(Part).default([]),
});
export type WireArtifact = z.infer<typeof Artifact>;

const Status = z.looseObject({
  state: z.string(),
  message: Message.optional(),
  timestamp: z.string().optional(),
});

const Metadata = z.record(z.string(), z.unknown());

/** An A2A 1.0 Task as a front answers it; fields we do not read are kept for `--json`. */
export const WireTask = z.looseObject({
  id: z.string(),
  contextId: z.string().optional(),
  status: Status,
  artifacts: z.array(Artifact).default([]),
  metadata: Metadata.optional(),
});
export type WireTask = z.infer<typeof WireTask>;

/** One frame of a stream; exactly one member is there. */
export const StreamFrame = z.union([
  z.object({ task: WireTask }),
  z.object({ message: Message }),
  z.object({
    statusUpdate: z.looseObject({
      taskId: z.string(),
      status: Status,
      metadata: Metadata.optional(),
    }),
  }),
  z.object({
    artifactUpdate: z.looseObject({
      taskId: z.string(),
      artifact: Artifact,
      append: z.boolean().optional(),
      lastChunk: z.boolean().optional(),
    }),
  }),
]);
export type StreamFrame = z.infer<typeof StreamFrame>;

const prefix = 'TASK_STATE_';

/** `WORKING` of `TASK_STATE_WORKING`. */
export const stateOf = (task: Pick<WireTask, 'status'>): string =>
  task.status.state.startsWith(prefix) ? task.status.state.slice(prefix.length) : task.status.state;

/** Nothing more comes by itself: ended, asks somebody, or done and not verified. */
export function isAtRest(task: WireTask): boolean {
  const phase = phaseOf(task);
  return restsAt({ state: stateOf(task), ...(phase !== undefined && { phase }) });
}

/** Our own state, where the task is of a mesh. */
export const phaseOf = (task: WireTask): string | undefined => textOf(task.metadata?.['phase']);

/** A metadata value that is text, else undefined. */
export const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

/** The text parts of a message or an artifact, addresses in place of contents that lie elsewhere. */
export const partsText = ({ parts }: { readonly parts: readonly z.infer<typeof Part>[] }): string =>
  parts.flatMap(({ text, url }) => text ?? url ?? []).join('\n');

import { z } from 'zod';
import { a2aStates, type A2aState } from '../../fabric/domain/a2a-state.ts';

/** A2A 1.0 as another side answers it, loosely: what we do not read may be anything, and is kept for `--json`. */

const Part = z.looseObject({ text: z.string().optional(), url: z.string().optional() });

/** Absent and null are the same to some servers. */
const listOf = <T extends z.ZodType>(item: T) =>
  z
    .array(item)
    .nullish()
    .transform((list) => list ?? []);

const Message = z.looseObject({ messageId: z.string().optional(), parts: listOf(Part) });

const Artifact = z.looseObject({
  artifactId: z.string(),
  name: z.string().optional(),
  parts: listOf(Part),
});
export type WireArtifact = z.infer<typeof Artifact>;

const prefix = 'TASK_STATE_';
const State = z.enum(a2aStates);
const WireState = z
  .string()
  .refine((state) => State.safeParse(withoutPrefix(state)).success, 'is no state of a task');

function withoutPrefix(state: string): string {
  return state.startsWith(prefix) ? state.slice(prefix.length) : state;
}

const Status = z.looseObject({
  state: WireState,
  message: Message.nullish(),
  timestamp: z.string().optional(),
});

/** Ours; a foreign agent may have anything there, or nothing. */
const Metadata = z.record(z.string(), z.unknown()).nullish().catch(undefined);

export const WireTask = z.looseObject({
  id: z.string().min(1).max(256),
  contextId: z.string().max(256).optional(),
  status: Status,
  artifacts: listOf(Artifact),
  metadata: Metadata,
});
export type WireTask = z.infer<typeof WireTask>;

/** One frame of a stream; exactly one member is there. */
export const StreamFrame = z.union([
  z.object({ task: WireTask }),
  z.object({ message: Message }),
  z.object({ statusUpdate: z.looseObject({ status: Status, metadata: Metadata }) }),
  z.object({
    artifactUpdate: z.looseObject({
      artifact: Artifact,
      append: z.boolean().optional(),
      lastChunk: z.boolean().optional(),
    }),
  }),
]);
export type StreamFrame = z.infer<typeof StreamFrame>;

type Standing = Pick<WireTask, 'status' | 'metadata'>;

/** `WORKING` of `TASK_STATE_WORKING`. */
export const stateOf = ({ status }: Pick<WireTask, 'status'>): A2aState =>
  State.parse(withoutPrefix(status.state));

/** Our own state, where the task is of a mesh. */
export const phaseOf = ({ metadata }: Pick<WireTask, 'metadata'>): string | undefined =>
  textOf(metadata?.['phase']);

/** A metadata value that is text, else undefined. */
export const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

/** The options of the open question; none where it takes any words, or none is open. */
export function optionsOf({ metadata }: Pick<WireTask, 'metadata'>): readonly string[] {
  const options = metadata?.['options'];
  return Array.isArray(options) ? options.filter((one) => typeof one === 'string') : [];
}

interface WithParts {
  readonly parts: readonly z.infer<typeof Part>[];
}

const textsOf = ({ parts }: WithParts): string[] =>
  parts.flatMap(({ text, url }) => text ?? url ?? []);

/** The text parts of a message, addresses in place of contents that lie elsewhere. */
export const partsText = (message: WithParts): string => textsOf(message).join('\n');

/** The same of an artifact. Its parts are one text: whoever streams it appends a part a piece. */
export const artifactText = (artifact: WithParts): string => textsOf(artifact).join('');

const ended: ReadonlySet<A2aState> = new Set<A2aState>([
  'COMPLETED',
  'FAILED',
  'CANCELED',
  'REJECTED',
]);

/** Nothing more comes by itself: ended, asks somebody, or done and not verified. */
export function isAtRest(task: Standing): boolean {
  const state = stateOf(task);
  return ended.has(state) || state === 'INPUT_REQUIRED' || phaseOf(task) === 'done';
}

/** Whether this frame of a stream (its `result`) says that waiting is over. */
export function endsWaiting(result: unknown): boolean {
  const frame = StreamFrame.safeParse(result).data;
  if (frame === undefined) return false;
  if ('task' in frame) return isAtRest(frame.task);
  return 'statusUpdate' in frame && isAtRest(frame.statusUpdate);
}

import { Message as MessageCodec, type Message } from '@a2a-js/sdk';
import { z } from 'zod';
import type { TaskDefinition } from '../../fabric/domain/task.ts';

/** What a message asks for: its texts as the body, their first line as the title. */
export function intentOf(message: Message): TaskDefinition['intent'] {
  const body = textOf(message);
  const line = body.split('\n').find((candidate) => candidate.trim() !== '');
  const title = (line ?? `Message ${message.messageId}`).trim().slice(0, 200);
  return { title, body };
}

/** The texts of a message, in order; data parts as JSON where there is no text at all. */
export function textOf({ parts }: Message): string {
  const texts = parts.flatMap(({ content }) => (content?.$case === 'text' ? [content.value] : []));
  if (texts.length > 0) return texts.join('\n\n');
  const data = parts.flatMap(({ content }) =>
    content?.$case === 'data' ? [JSON.stringify(content.value)] : [],
  );
  return data.join('\n\n');
}

const Parts = z.looseObject({ parts: z.array(z.record(z.string(), z.unknown())) });

/** The parts as 1.0 JSON, where they are more than one plain text. */
export function partsOf(message: Message): TaskDefinition['parts'] {
  const [first, ...more] = message.parts;
  const isPlain = more.length === 0 && first?.content?.$case === 'text' && !first.metadata;
  return isPlain ? undefined : Parts.parse(MessageCodec.toJSON(message)).parts;
}

import { hash } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { z } from 'zod';
import { TaskEvent } from '../domain/events.ts';

/** An event as stored: its text, and the token by which a slot names it. */
export interface EventRecord {
  /** 22 base64url characters of the text's SHA-256: a reader checks the record by it. */
  readonly token: string;
  /** base64url of the event's JSON, deflated: a definition takes a third of its JSON. */
  readonly text: string;
}

/** An inflated record past this is none of ours: the greatest event of a body of 1 MiB, escaped once. */
const mostBytes = 4 * 1024 * 1024;

const tokenOf = (text: string): string =>
  Buffer.from(hash('sha256', text, 'hex').slice(0, 32), 'hex').toString('base64url');

/** The event's own random token makes equal events of two writers two records. */
export const recordOf = (event: TaskEvent): EventRecord => recordOfAll(event);

/** A whole log so far, as one record. */
export const recordOfLog = (events: readonly TaskEvent[]): EventRecord => recordOfAll(events);

function recordOfAll(content: unknown): EventRecord {
  const text = deflateRawSync(JSON.stringify(content), { level: 9 }).toString('base64url');
  return { token: tokenOf(text), text };
}

/** The event of a record; undefined when it is damaged, or not the one that `token` names. */
export const eventOfRecord = (record: EventRecord): TaskEvent | undefined =>
  contentOf(record, TaskEvent);

export const logOfRecord = (record: EventRecord): readonly TaskEvent[] | undefined =>
  contentOf(record, z.array(TaskEvent).min(1));

function contentOf<T>({ token, text }: EventRecord, schema: z.ZodType<T>): T | undefined {
  if (tokenOf(text) !== token) return undefined;
  try {
    const bytes = inflateRawSync(Buffer.from(text, 'base64url'), { maxOutputLength: mostBytes });
    return schema.safeParse(JSON.parse(bytes.toString())).data;
  } catch {
    return undefined;
  }
}

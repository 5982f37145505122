import { createHash } from 'node:crypto';
import type { JsonObject } from './canonical-json.ts';

/** A card as it is served, with the strong ETag of exactly these bytes. */
export interface CardBody {
  readonly text: string;
  readonly etag: string;
}

export function cardBody(card: JsonObject): CardBody {
  const text = JSON.stringify(card);
  return { text, etag: `"${createHash('sha256').update(text).digest('hex')}"` };
}

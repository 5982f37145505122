import { reasonOf } from '../../fabric/domain/errors.ts';
import type { JsonObject } from './canonical-json.ts';
import type { RemoteFault } from './remote-fault.ts';
import { isRecord } from './json-record.ts';

/** A card is a page of JSON; more is not read. */
const remoteCardChars = 256 * 1024;

type RemoteJson =
  | { readonly ok: true; readonly card: JsonObject }
  | { readonly ok: false; readonly fault: RemoteFault };

/** Exactly one JSON object: no comments, no second document, no repair. */
export function parseRemoteJson(text: string): RemoteJson {
  if (text.length > remoteCardChars) return { ok: false, fault: { code: 'too-large', path: '$' } };
  try {
    const value: unknown = JSON.parse(text);
    if (isRecord(value)) return { ok: true, card: value };
    return { ok: false, fault: { code: 'not-a-card', path: '$' } };
  } catch (error) {
    return { ok: false, fault: { code: 'not-json', path: '$', ...placeOf(text, error) } };
  }
}

/** Line and column, counting from 1, where the parser gave up; without a position, the text's end. */
function placeOf(text: string, error: unknown) {
  const position = /at position (\d+)/.exec(reasonOf(error))?.[1];
  const before = text.slice(0, position === undefined ? text.length : Number(position));
  const lines = before.split('\n');
  return { line: lines.length, column: (lines.at(-1) ?? '').length + 1 };
}

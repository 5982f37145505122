import type { JsonObject } from './canonical-json.ts';

/** A JSON object, neither null nor a list. */
export function isRecord(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

import { InvalidValueError } from '../../fabric/domain/errors.ts';

export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json;
}

/**
 * The one text of a JSON value by RFC 8785: no white space, keys by UTF-16 code units, numbers and
 * strings as ECMAScript writes them. Throws InvalidValueError for what has no such text: lone
 * surrogates, NaN and infinities, undefined, anything that is not plain data.
 */
export function canonicalJson(value: unknown): string {
  return textOf(value, '$');
}

function textOf(value: unknown, path: string): string {
  if (value === null || typeof value === 'boolean') return String(value);
  if (typeof value === 'string') return quoted(value, path);
  if (typeof value === 'number') return numberText(value, path);
  if (Array.isArray(value))
    return `[${value.map((item, index) => textOf(item, `${path}[${index}]`)).join(',')}]`;
  if (isPlainObject(value)) return objectText(value, path);
  throw new InvalidValueError(`${path} is a ${typeof value}, which JSON has no text for.`, path);
}

function objectText(value: Readonly<Record<string, unknown>>, path: string): string {
  const members = Object.keys(value)
    .sort()
    .map((key) => `${quoted(key, path)}:${textOf(value[key], `${path}.${key}`)}`);
  return `{${members.join(',')}}`;
}

function numberText(value: number, path: string): string {
  if (Number.isFinite(value)) return JSON.stringify(value);
  throw new InvalidValueError(`${path} is ${value}; JSON has finite numbers only.`, path);
}

function quoted(text: string, path: string): string {
  if (!/\p{Surrogate}/u.test(text)) return JSON.stringify(text);
  const words = 'holds half of a surrogate pair, which is no character';
  throw new InvalidValueError(`A text at ${path} ${words}. Correct it.`, path);
}

function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

import { TaskEvent, type Author } from '../domain/events.ts';
import type { TaskState } from '../domain/state.ts';

/**
 * What a slot says: the whole event, or the token of the record that holds it; a first slot also that of
 * all events so far, of a task that came to the board late.
 */
export type SlotContent =
  | { readonly kind: 'event'; readonly event: TaskEvent }
  | { readonly kind: 'record' | 'log'; readonly token: string };

/** Room in a tag's `color_id` on PostgreSQL (`reference/kanboard.md` 9). */
const mostChars = 50;

/** `r` and the record's token. */
export const slotOfRecord = (token: string): string => `r.${token}`;

/** `l` and the token of a whole log's record; in a first slot only. */
export const slotOfLog = (token: string): string => `l.${token}`;

/**
 * The event as a slot's content where it fits there, so that it is one insert: a claim, a start, an
 * admission, a verdict without words. Undefined: it needs a record. What comes back is compared with
 * what went in, so an unusual id or token takes the record's way instead of being cut.
 * @param before the state of the task at that version; it says who its agent and its people are
 */
export function compactSlot(before: TaskState | undefined, event: TaskEvent): string | undefined {
  if (before === undefined) return undefined;
  const short = shortOf(before, event);
  if (short === undefined || short.length > mostChars) return undefined;
  const back = eventOfShort(before, short);
  return back && isSame(back, event) ? short : undefined;
}

/** What a slot holds; undefined for what no writer of ours puts there. */
export function readSlot(before: TaskState | undefined, content: string): SlotContent | undefined {
  const [, letter, token] = /^([rl])\.([\w-]{22})$/.exec(content) ?? [];
  if (token !== undefined) return { kind: letter === 'l' ? 'log' : 'record', token };
  const event = before && eventOfShort(before, content);
  return event && { kind: 'event', event };
}

const kinds = {
  c: 'claimed',
  s: 'started',
  a: 'admitted',
  v: 'verified',
  p: 'paused',
  u: 'resumed',
  k: 'revoked',
  r: 'reviewStarted',
  z: 'archived',
} as const;
type Letter = keyof typeof kinds;

const letterOf = new Map(Object.entries(kinds).map(([letter, kind]) => [kind as string, letter]));

/** `<kind><author>.<token>.<time>` and what the kind has more, dot by dot. */
function shortOf(before: TaskState, event: TaskEvent): string | undefined {
  const letter = letterOf.get(event.kind);
  const by = authorLetter(before, event.by);
  if (letter === undefined || by === undefined) return undefined;
  const parts = [`${letter}${by}`, hexAsChars(event.token), numberAsChars(event.atMs)];
  if (event.kind === 'claimed') {
    parts.push(hexAsChars(event.incarnation), numberAsChars(event.leaseMs));
    if (event.attempt !== undefined) parts.push(numberAsChars(event.attempt));
  }
  if (event.kind === 'started') parts.push(numberAsChars(event.attempt));
  return parts.join('.');
}

function eventOfShort(before: TaskState, short: string): TaskEvent | undefined {
  const [head = '', token, at, ...more] = short.split('.');
  const kind = kinds[head.charAt(0) as Letter] as (typeof kinds)[Letter] | undefined;
  const by = authorOf(before, head.charAt(1));
  if (kind === undefined || by === undefined || token === undefined || at === undefined) {
    return undefined;
  }
  const base = { kind, by, atMs: charsAsNumber(at), token: charsAsHex(token) };
  return TaskEvent.safeParse({ ...base, ...bodyOf(before, kind, by, more) }).data;
}

function bodyOf(before: TaskState, kind: string, by: Author, more: readonly string[]) {
  const [one = '', two = '', three] = more;
  const { claim } = before;
  if (kind === 'claimed') {
    const attempt = three === undefined ? {} : { attempt: charsAsNumber(three) };
    return { holder: by.id, incarnation: charsAsHex(one), leaseMs: charsAsNumber(two), ...attempt };
  }
  if (kind === 'started') return { fence: claim?.fence, attempt: charsAsNumber(one) };
  if (kind === 'revoked') return { fence: claim?.fence };
  return {};
}

/** Those who mostly write: named by what they are to the task. */
function authors(before: TaskState): Readonly<Record<string, Author | undefined>> {
  const { submitter, submitterRole, interlocutor } = before.task.provenance;
  const human = (id: Author['id'] | undefined): Author | undefined =>
    id === undefined ? undefined : { id, role: 'human' };
  return {
    g: before.agentId && { id: before.agentId as string as Author['id'], role: 'agent' },
    b: { id: submitter, role: submitterRole },
    i: human(interlocutor),
    h: human(before.task.responsible),
    k: { id: 'keeper' as Author['id'], role: 'keeper' },
    f: { id: 'fabric' as Author['id'], role: 'fabric' },
  };
}

const authorOf = (before: TaskState, letter: string): Author | undefined =>
  Object.hasOwn(authors(before), letter) ? authors(before)[letter] : undefined;

const authorLetter = (before: TaskState, { id, role }: Author): string | undefined =>
  Object.entries(authors(before)).find(([, known]) => known?.id === id && known.role === role)?.[0];

const hexAsChars = (hex: string): string => Buffer.from(hex, 'hex').toString('base64url');
const charsAsHex = (chars: string): string => Buffer.from(chars, 'base64url').toString('hex');
const numberAsChars = (value: number): string => value.toString(36);
const charsAsNumber = (chars: string): number => parseInt(chars, 36);

/** Both are plain data of few fields, made by the same schema. */
const isSame = (one: TaskEvent, other: TaskEvent): boolean => sorted(one) === sorted(other);
const sorted = (event: TaskEvent): string =>
  JSON.stringify(Object.entries(event).sort(([a], [b]) => (a < b ? -1 : 1)));

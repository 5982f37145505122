import { hash } from 'node:crypto';
import type { TaskId } from '../domain/ids.ts';

/**
 * Where a task's slots and records are: tags of a project that does not exist, so no page of Kanboard
 * shows them and no person's tag can meet them. 6·10⁸ namespaces keep the listing of one small, however
 * many tasks there are: one shared namespace was measured at 340 ms an append (`reference/kanboard.md` 9).
 */
export const namespaceOf = (uid: TaskId): number => 1_500_000_000 + hashed(uid, 600_000_000);

/** Where a mesh keeps what is not of one task: its projects. Apart from all task namespaces. */
export const registryNamespaceOf = (boardId: string): number =>
  1_400_000_000 + hashed(boardId, 90_000_000);

/** Where `mesh board setup` tries out what slots rely on: near them, and never theirs. */
export const probeNamespaceOf = (boardId: string): number =>
  1_490_000_000 + hashed(boardId, 9_000_000);

function hashed(text: string, below: number): number {
  return parseInt(hash('sha256', text, 'hex').slice(0, 8), 16) % below;
}

/** One tag as `getTagsByProject` gives it; order means nothing. */
export interface TagRow {
  readonly name: string;
  readonly color: string;
}

export const slotName = (uid: TaskId, version: number): string => `${uid}-v${version}`;

/** Characters of a record in one row: with uid, token and place the name stays below PostgreSQL's 255. */
const rowChars = 180;

/** The rows that hold `text` under `token`; a repeat makes the same names, so it changes nothing. */
export function recordRows(uid: TaskId, token: string, text: string): readonly string[] {
  const count = Math.max(1, Math.ceil(text.length / rowChars));
  return Array.from(
    { length: count },
    (_, at) => `${uid}~${token}~${at}.${count}~${text.slice(at * rowChars, (at + 1) * rowChars)}`,
  );
}

/** A namespace's rows sorted into slots and records of one task; two tasks may share a namespace. */
export interface Namespace {
  /** Version → what the slot holds. */
  readonly slots: ReadonlyMap<number, string>;
  /** Token → the whole record; a record with a row missing is not there. */
  readonly records: ReadonlyMap<string, string>;
}

const RecordName = /^([0-9a-f]{32})~([\w-]{22})~(\d{1,4})\.(\d{1,4})~([\w-]*)$/;
const SlotName = /^([0-9a-f]{32})-v([1-9]\d{0,3})$/;

export function readNamespace(uid: TaskId, rows: readonly TagRow[]): Namespace {
  const slots = new Map<number, string>();
  const pieces = new Map<string, string[]>();
  for (const { name, color } of rows) {
    if (!name.startsWith(uid)) continue;
    const slot = SlotName.exec(name);
    if (slot) slots.set(Number(slot[2]), color);
    const record = RecordName.exec(name);
    if (!record) continue;
    const [, , token = '', at, count, text = ''] = record;
    const known = pieces.get(token) ?? Array<string>(Number(count));
    known[Number(at)] = text;
    pieces.set(token, known);
  }
  const whole = [...pieces].filter(([, parts]) => Object.keys(parts).length === parts.length);
  return { slots, records: new Map(whole.map(([token, parts]) => [token, parts.join('')])) };
}

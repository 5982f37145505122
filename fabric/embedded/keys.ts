/** Hex digits of a task id that make its key: 48 bits, exact as a number. */
export const keyDigits = 12;

/** The integer under which a task id is indexed; two ids may share it, so the id is compared too. */
export const keyOfTask = (uid: string): number => parseInt(uid.slice(0, keyDigits), 16);

/** The keys of all task ids that begin with `prefix` (hex digits): from, and below. */
export function keyRange(prefix: string): { from: number; below: number } {
  const digits = prefix.slice(0, keyDigits);
  const from = parseInt(digits.padEnd(keyDigits, '0'), 16);
  return { from, below: from + 16 ** (keyDigits - digits.length) };
}

/** 32 bits of any text (FNV-1a), to index it by; texts that share them are told apart by the text. */
export function keyOfText(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  }
  return hash >>> 0;
}

/** Task ids for `logsNamed`, as one value to bind. */
export const named = (uids: readonly string[]): string =>
  JSON.stringify(uids.map((uid) => [keyOfTask(uid), uid]));

/** The logs of the ids that `named` gave, as the start of a query. */
export const logsNamed =
  'json_each(?) AS wanted CROSS JOIN logs ON logs.uid_key = wanted.value ->> 0 ' +
  'AND logs.uid = wanted.value ->> 1';

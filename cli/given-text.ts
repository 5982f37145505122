import { isUtf8 } from 'node:buffer';
import { readFile } from 'node:fs/promises';
import { InvalidValueError, reasonOf } from '../fabric/domain/errors.ts';

/**
 * The text of a file that the command line names.
 * @throws InvalidValueError when it can't be read or is not UTF-8
 */
export async function textFile(file: string): Promise<string> {
  const bytes = await readFile(file).catch((cause: unknown) => {
    throw new InvalidValueError(`${file} can't be read: ${reasonOf(cause)}.`, 'file', { cause });
  });
  return utf8Text(bytes, file);
}

/**
 * `bytes` as text, none of them lost: what is put on record is what was given.
 * @param source how it is called in the message
 * @throws InvalidValueError naming the first byte that is not UTF-8
 */
export function utf8Text(bytes: Buffer, source: string): string {
  const text = bytes.toString('utf8');
  if (isUtf8(bytes)) return text;
  throw new InvalidValueError(
    `${source} is not text in UTF-8: its byte ${firstWrongByte(bytes, text)} (counted from 0) begins no ` +
      'character. Convert it (iconv), or leave it where it lies and name it with --ref.',
    'file',
  );
}

const stand = '\ufffd';
const standBytes = Buffer.from(stand);

/** A replaced sequence is the first stand-in that was none before. */
function firstWrongByte(bytes: Buffer, text: string): number {
  let at = 0;
  let readTo = 0;
  for (let found = text.indexOf(stand); found >= 0; found = text.indexOf(stand, readTo)) {
    at += Buffer.byteLength(text.slice(readTo, found));
    if (!bytes.subarray(at, at + standBytes.length).equals(standBytes)) return at;
    at += standBytes.length;
    readTo = found + stand.length;
  }
  return at;
}

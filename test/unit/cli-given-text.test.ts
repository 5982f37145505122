import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { textFile, utf8Text } from '../../cli/given-text.ts';

describe('text from outside', () => {
  it.each<[string, readonly number[], number]>([
    ['Latin-1 after ASCII', [0x61, 0x62, 0xe9, 0x20], 2],
    ['a character that is cut off', [0x61, 0xe2, 0x82], 1],
    ['a lone surrogate', [0xed, 0xa0, 0x80], 0],
    ['one that begins like the stand-in itself', [0xef, 0xbf, 0x41], 0],
    ['a wrong one after a real stand-in', [0xef, 0xbf, 0xbd, 0xc3, 0xa9, 0xff], 5],
  ])('refuses %s and names the byte', (_what, bytes, at) => {
    expect(() => utf8Text(Buffer.from(bytes), 'notes.txt')).toThrow(
      `notes.txt is not text in UTF-8: its byte ${at} `,
    );
  });

  it.each(['', 'naïve 日本語 🙂', 'a real \ufffd stays', '\ufeffmarked'])('keeps %j', (text) => {
    expect(utf8Text(Buffer.from(text), 'it')).toBe(text);
  });

  it('is read from a file whole or not at all', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'mesh-text-'));
    try {
      const file = join(folder, 'old.txt');
      await writeFile(file, Buffer.from([0x6f, 0x6b, 0x80]));
      await expect(textFile(file)).rejects.toMatchObject({ code: 'VALIDATION_ERROR' });
      await expect(textFile(folder)).rejects.toThrow(`${folder} can't be read`);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});

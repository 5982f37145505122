import { describe, expect, it } from 'vitest';
import { eventData } from '../../agents/calls/event-stream.ts';

async function* cut(text: string, size: number): AsyncGenerator<Uint8Array> {
  const bytes = new TextEncoder().encode(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function read(text: string, size = 7): Promise<string[]> {
  const all: string[] = [];
  for await (const data of eventData(cut(text, size))) all.push(data);
  return all;
}

describe('server-sent events', () => {
  it.each(['\n', '\r\n', '\r'])('are the same however they are cut, with %j', async (end) => {
    const lines = [
      ...[': keep-alive', '', 'id: 1', 'data: Grüße 🙂', 'data:second', ''],
      ...['event: x', '', 'data:  two spaces', '', 'data: never ended'],
    ];
    for (let size = 1; size <= 40; size += 1) {
      expect(await read(lines.join(end) + end, size)).toEqual(['Grüße 🙂\nsecond', ' two spaces']);
    }
  });

  it('take a long line in small pieces, up to the bound', async () => {
    const long = 'x'.repeat(4 * 1024 * 1024 - 'data:'.length);
    expect(await read(`data:${long}\n\n`, 512)).toEqual([long]);
    await expect(read(`data:${long}x\n\n`, 4_096)).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
    });
    const halves = `data:${long.slice(long.length / 2)}\n`;
    await expect(read(`${halves}${halves}data:12345678901\n\n`, 65_536)).rejects.toThrow(
      /longer than/,
    );
  });
});

import { MeshError } from '../../fabric/domain/errors.ts';

/** Longest single event: a task of 1 MiB with room for its frame. */
const mostChars = 4 * 1024 * 1024;

/**
 * The `data` of each server-sent event of `body`, in order; comments and other fields are skipped.
 * @throws MeshError `VALIDATION_ERROR` for an event past 4 Mi characters
 */
export async function* eventData(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let data: string[] = [];
  let chars = 0;
  for await (const line of linesOf(body)) {
    if (line === '') {
      if (data.length > 0) yield data.join('\n');
      data = [];
      chars = 0;
    } else if (line.startsWith('data:')) {
      data.push(line.slice('data:'.length).replace(/^ /u, ''));
      chars += line.length;
      if (chars > mostChars) throw tooLong();
    }
  }
}

/** Whole lines. Each piece is looked at once, however many of them one line takes. */
async function* linesOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let begun: string[] = [];
  let chars = 0;
  let held = '';
  for await (const bytes of body) {
    const text = held + decoder.decode(bytes, { stream: true });
    // It may be the first half of CR LF.
    held = text.endsWith('\r') ? '\r' : '';
    const lines = text.slice(0, text.length - held.length).split(/\r\n|\n|\r/u);
    const rest = lines.pop() ?? '';
    for (const line of lines) {
      yield begun.join('') + line;
      begun = [];
      chars = 0;
    }
    begun.push(rest);
    chars += rest.length;
    if (chars > mostChars) throw tooLong();
  }
}

function tooLong(): MeshError {
  return new MeshError(
    'VALIDATION_ERROR',
    `An event of the stream is longer than ${mostChars} characters. Read the task by itself instead.`,
    { path: 'data' },
  );
}

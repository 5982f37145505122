import { MeshError } from '../fabric/domain/errors.ts';

/** Longest single event: a task of 1 MiB with room for its frame. */
const mostChars = 4 * 1024 * 1024;

/**
 * The `data` of each server-sent event of `body`, in order; comments and other fields are skipped.
 * @throws MeshError `VALIDATION_ERROR` for an event past 4 Mi characters
 */
export async function* eventData(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let pending = '';
  let data: string[] = [];
  for await (const bytes of body) {
    pending += decoder.decode(bytes, { stream: true });
    const lines = pending.split(/\r\n|\n|\r(?!$)/u);
    pending = lines.pop() ?? '';
    for (const line of lines) {
      if (line === '') {
        if (data.length > 0) yield data.join('\n');
        data = [];
      } else if (line.startsWith('data:')) {
        data.push(line.slice('data:'.length).replace(/^ /u, ''));
      }
    }
    if (pending.length + data.join('').length > mostChars) throw tooLong();
  }
}

function tooLong(): MeshError {
  return new MeshError(
    'VALIDATION_ERROR',
    `An event of the stream is longer than ${mostChars} characters. Read the task with \`mesh show\` instead.`,
    { path: 'data' },
  );
}

import { TaskId } from '../domain/ids.ts';
import type { RemoteBoardOptions } from './remote-board-options.ts';

/**
 * Follows `GET /board/changes`, one task id a line, and calls back for each; reconnects with back-off
 * until `stopped`. Hints only: what is lost meanwhile the poll finds.
 */
export async function followChanges(
  { url, authorization, fetch, clock }: RemoteBoardOptions,
  stopped: AbortSignal,
  onChange: (uid: TaskId) => Promise<void>,
): Promise<void> {
  let waitMs = 250;
  while (!stopped.aborted) {
    try {
      const headers = { authorization: await authorization() };
      const response = await fetch(`${url}/board/changes`, { headers, signal: stopped });
      if (response.ok && response.body) {
        waitMs = 250;
        await eachLine(response.body, async (line) => {
          const uid = TaskId.safeParse(line);
          if (uid.success) await onChange(uid.data);
        });
      }
    } catch {
      // The next try tells; a board that is down shows in every other call.
    }
    await clock.sleep(waitMs, stopped);
    waitMs = Math.min(waitMs * 2, 5_000);
  }
}

async function eachLine(
  body: ReadableStream<Uint8Array>,
  onLine: (line: string) => Promise<void>,
): Promise<void> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const bytes of body) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line !== '') await onLine(line);
  }
}

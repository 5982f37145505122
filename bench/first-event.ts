import { headersFor, sendBody, type LoadTarget } from './load.ts';

/**
 * From the request to the first bytes of its event stream, for `times` streams one after another, ms.
 * @throws Error when the answer is no stream
 */
export async function firstEventMs(target: LoadTarget, times: number): Promise<number[]> {
  const took: number[] = [];
  for (let n = 0; n < times; n++) {
    const body = sendBody().replace('"SendMessage"', '"SendStreamingMessage"');
    const startMs = performance.now();
    const response = await fetch(target.url, { method: 'POST', headers: headersFor(target), body });
    const type = response.headers.get('content-type') ?? '';
    if (!type.startsWith('text/event-stream') || response.body === null) {
      throw new Error(`${target.url} answered a stream with ${response.status} ${type}.`);
    }
    const reader = response.body.getReader();
    await reader.read();
    took.push(performance.now() - startMs);
    while (!(await reader.read()).done);
  }
  return took;
}

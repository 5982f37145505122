import autocannon from 'autocannon';
import { randomUUID } from 'node:crypto';

/** Where and how to send. */
export interface LoadTarget {
  readonly url: string;
  readonly token?: string;
}

/** One run of load on a server. */
export interface LoadResult {
  readonly requests: number;
  readonly perSecond: number;
  /** From the request's last byte to the answer's, ms. */
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** A waiting SendMessage of A2A 1.0 that no other one equals. */
export const sendBody = (): string =>
  JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'SendMessage',
    params: {
      message: {
        messageId: randomUUID(),
        role: 'ROLE_USER',
        parts: [{ text: 'Read the access log of last night and say what looks wrong.' }],
      },
    },
  });

export const headersFor = ({ token }: LoadTarget): Record<string, string> => ({
  'Content-Type': 'application/json',
  'A2A-Version': '1.0',
  ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
});

/**
 * Sends waiting messages from `connections` clients for `durationMs`; each has its own messageId.
 * @throws Error when an answer is no completed task: then nothing of it may be counted
 */
export async function load(
  target: LoadTarget,
  connections: number,
  durationMs: number,
): Promise<LoadResult> {
  const tookMs: number[] = [];
  const startMs = performance.now();
  let lastMs = startMs;
  const { errors, non2xx, mismatches } = await new Promise<autocannon.Result>((resolve, reject) => {
    const running = autocannon(
      {
        url: target.url,
        connections,
        duration: durationMs / 1_000,
        sampleInt: 20, // it ends at a sample
        method: 'POST',
        headers: headersFor(target),
        requests: [{ setupRequest: (request) => ({ ...request, body: sendBody() }) }],
        verifyBody: (body) => String(body).includes('"TASK_STATE_COMPLETED"'),
      },
      (error: Error | null, result) => {
        if (error) reject(error);
        else resolve(result);
      },
    );
    // Its own histogram has whole milliseconds only.
    running.on('response', (_client, _status, _bytes, responseMs) => {
      tookMs.push(responseMs);
      lastMs = performance.now();
    });
  });
  const elapsedMs = lastMs - startMs;
  if (errors + non2xx + mismatches > 0 || tookMs.length === 0) {
    throw new Error(
      `${target.url} answered ${tookMs.length} sends: ${errors} errors, ${non2xx} with another status than 200, ` +
        `${mismatches} without a completed task. Send one by hand to see why.`,
    );
  }
  tookMs.sort((one, other) => one - other);
  const at = (share: number) => tookMs[Math.floor((tookMs.length - 1) * share)] ?? Number.NaN;
  return {
    requests: tookMs.length,
    perSecond: (tookMs.length * 1_000) / elapsedMs,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
  };
}

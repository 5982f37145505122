import type { Clock } from '../../fabric/ports/clock.ts';

/** A body as text; `too-large` and `not-text` (no valid UTF-8) once it was read to a bounded end. */
export type BodyReading =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'too-large' }
  | { readonly kind: 'not-text' };

/** How much of a body that is refused is read and thrown away, bytes. */
const mostDrainedBytes = 8 * 1024 * 1024;
/** How long a refused body may take, ms. */
const mostDrainMs = 5_000;

/**
 * Reads at most `mostBytes`. One that is larger is drained for a while before it is refused: a client
 * that still writes would see a reset connection instead of the answer (H17).
 */
export async function readBody(
  request: Request,
  mostBytes: number,
  clock: Clock,
): Promise<BodyReading> {
  const length = Number(request.headers.get('content-length') ?? Number.NaN);
  if (length > mostBytes) {
    await drain(request, clock);
    return { kind: 'too-large' };
  }
  const bytes = Number.isNaN(length)
    ? await readBounded(request, mostBytes, clock)
    : new Uint8Array(await request.arrayBuffer());
  if (bytes === undefined || bytes.byteLength > mostBytes) return { kind: 'too-large' };
  try {
    return { kind: 'text', text: utf8.decode(bytes) };
  } catch {
    return { kind: 'not-text' };
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

async function readBounded(
  request: Request,
  mostBytes: number,
  clock: Clock,
): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  const reader = readerOf(request);
  for (let next = await reader?.read(); next && !next.done; next = await reader?.read()) {
    bytes += next.value.byteLength;
    if (bytes > mostBytes) {
      reader?.releaseLock();
      await drain(request, clock);
      return undefined;
    }
    chunks.push(next.value);
  }
  return Buffer.concat(chunks);
}

/** Reads a body away that nobody wants, within bounds of size and time. */
export async function drain(request: Request, clock: Clock): Promise<void> {
  const reader = request.bodyUsed ? undefined : readerOf(request);
  if (reader === undefined) return;
  const over = new AbortController();
  const late = clock.sleep(mostDrainMs, over.signal).then(() => 'late' as const);
  try {
    let bytes = 0;
    for (;;) {
      const next = await Promise.race([reader.read(), late]);
      if (next === 'late' || next.done) return;
      bytes += next.value.byteLength;
      if (bytes > mostDrainedBytes) return;
    }
  } catch {
    // The client hung up first: there is nobody left to answer.
  } finally {
    over.abort();
    reader.releaseLock();
  }
}

const readerOf = (request: Request): ReadableStreamDefaultReader<Uint8Array> | undefined =>
  request.body?.getReader();

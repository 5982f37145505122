import { limits } from '../../fabric/domain/limits.ts';
import type { Delivery, Notice, Notifier } from '../../fabric/ports/notifier.ts';
import { deliveryProvenBy, noticePacket } from './notice-packet.ts';

export interface WebhookNotifierOptions {
  /** As the operator wrote it: nothing else is ever called, and no redirect followed. */
  readonly url: string;
  readonly address: string | undefined;
  /** Sent with each call, the receiver's secret among them. */
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch: typeof globalThis.fetch;
  readonly timeoutMs?: number;
}

/** Posts the packet; the answer is the receipt. */
export function webhookNotifier(options: WebhookNotifierOptions): Notifier {
  return {
    transport: 'webhook',
    send: (notice) => post(notice, options),
  };
}

async function post(
  notice: Notice,
  { url, address, headers, fetch, timeoutMs = limits.noticeMs }: WebhookNotifierOptions,
): Promise<Delivery> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: noticePacket(notice, address),
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    });
    if (response.ok) return deliveryProvenBy(await boundedText(response), notice);
    await response.body?.cancel();
    return refusedBy(response.status);
  } catch (error) {
    const outcome = neverConnected(error) ? 'failed' : 'unknown';
    return { outcome, reason: `${new URL(url).host} did not answer (${codeOf(error)})` };
  }
}

/** A redirect and a refusal took nothing; a server that broke may have. */
function refusedBy(status: number): Delivery {
  const outcome = status < 500 && status !== 408 ? 'failed' : 'unknown';
  return { outcome, reason: `the receiver answered HTTP ${status}` };
}

/** The answer, or as much of it as can't be a receipt any more. */
async function boundedText(response: Response): Promise<string> {
  const pieces: AsyncIterable<Uint8Array> | null = response.body;
  if (pieces === null) return '';
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for await (const piece of pieces) {
    bytes += piece.byteLength;
    if (bytes > limits.noticeAnswerBytes) return '';
    text += decoder.decode(piece, { stream: true });
  }
  return text;
}

/** Codes of `fetch` that come before the first byte of a request. */
const beforeRequest: ReadonlySet<string> = new Set([
  ...['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'],
  'UND_ERR_CONNECT_TIMEOUT',
]);

const neverConnected = (error: unknown): boolean => beforeRequest.has(codeOf(error));

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'no reason';
  const { cause } = error;
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  return typeof code === 'string' ? code : error.name;
}

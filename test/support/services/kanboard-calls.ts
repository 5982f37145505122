/** What came back, as it came: a status, and JSON where the body is JSON. */
export interface KanboardReply {
  readonly status: number;
  readonly body: unknown;
}

export type KanboardCalls = (
  method: string,
  params?: Readonly<Record<string, unknown>>,
) => Promise<KanboardReply>;

/** Plain calls of a Kanboard's API by one who knows nothing better. Rejects where no whole answer comes. */
export function kanboardCalls(url: string, token: string, timeoutMs = 10_000): KanboardCalls {
  const authorization = `Basic ${Buffer.from(`jsonrpc:${token}`).toString('base64')}`;
  return async (method, params = {}) => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      signal: AbortSignal.timeout(timeoutMs),
    });
    const text = await response.text();
    return { status: response.status, body: jsonOr(text) };
  };
}

function jsonOr(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

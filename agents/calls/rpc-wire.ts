import { z } from 'zod';

/** A JSON-RPC call over HTTP as both our clients make it: agents for their runs, the command for people. */
export interface WireCall {
  readonly url: string;
  /** A fresh one a try: a signed one lives only minutes. */
  token(): Promise<string>;
  readonly method: string;
  readonly params: unknown;
}

const ErrorDetail = z.looseObject({
  reason: z.string().max(64).optional(),
  metadata: z.record(z.string(), z.unknown()).optional(),
});
export type ErrorDetail = z.infer<typeof ErrorDetail>;

export const RpcError = z.looseObject({
  code: z.number(),
  message: z.string(),
  data: z.unknown().optional(),
});
export type RpcError = z.infer<typeof RpcError>;

export const RpcReply = z.looseObject({
  result: z.unknown().optional(),
  error: RpcError.optional(),
});
export type RpcReply = z.infer<typeof RpcReply>;

/** The ErrorInfos of an error: a list in 1.0, one object in 0.3, anything from a foreign agent. */
export function errorDetails({ data }: RpcError): readonly ErrorDetail[] {
  const items: readonly unknown[] = Array.isArray(data) ? data : [data];
  return items.flatMap((item) => {
    const detail = ErrorDetail.safeParse(item);
    return detail.success ? [detail.data] : [];
  });
}

/** One A2A 1.0 request. A redirect would carry the credential elsewhere, so it is an error. */
export async function post(
  fetch: (url: string, init: RequestInit) => Promise<Response>,
  call: WireCall,
  signal: AbortSignal,
): Promise<Response> {
  const { method, params } = call;
  return fetch(call.url, {
    method: 'POST',
    redirect: 'error',
    headers: {
      authorization: `Bearer ${await call.token()}`,
      'content-type': 'application/json',
      'a2a-version': '1.0',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    signal,
  });
}

/** A reply, or undefined for what is none. */
export function readReply(text: string): RpcReply | undefined {
  try {
    return RpcReply.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

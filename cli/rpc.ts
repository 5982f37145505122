import { z } from 'zod';
import { eventData } from '../agents/calls/event-stream.ts';
import {
  BoardUnavailableError,
  MeshError,
  meshErrorCodes,
  reasonOf,
  type MeshErrorCode,
} from '../fabric/domain/errors.ts';
import type { MeshConnection } from './mesh-connection.ts';

type Mesh = Pick<MeshConnection, 'url' | 'token' | 'fetch'>;

export interface RpcCall {
  /** The front itself (its router), or one agent of it. */
  readonly agentId?: string;
  /** An A2A 1.0 method, or one of our extensions: `cardmesh/why`. */
  readonly method: string;
  readonly params: unknown;
  readonly signal: AbortSignal;
}

const ErrorDetail = z.looseObject({
  reason: z.string().optional(),
  domain: z.string().optional(),
  metadata: z.record(z.string(), z.unknown()).optional(),
});
const RpcError = z.looseObject({
  code: z.number(),
  message: z.string(),
  data: z.array(ErrorDetail).optional().catch(undefined),
});
const RpcReply = z.looseObject({ result: z.unknown().optional(), error: RpcError.optional() });
type RpcError = z.infer<typeof RpcError>;

/**
 * One JSON-RPC call to the front, its answer parsed with `schema`.
 * @throws MeshError with the code the mesh named; `FABRIC_DOWN` when nothing answers
 */
export async function rpc<T>(mesh: Mesh, call: RpcCall, schema: z.ZodType<T>): Promise<T> {
  const response = await post(mesh, call, 'application/json');
  const reply = RpcReply.safeParse(await response.json().catch(() => undefined));
  if (!reply.success) throw notAMesh(mesh, response);
  if (reply.data.error) throw toMeshError(reply.data.error, call);
  return parsed(schema, reply.data.result, call);
}

/**
 * The results of a streaming call, one by one, until the front closes the stream.
 * @throws MeshError as `rpc`; also `FABRIC_DOWN` when the stream breaks
 */
export async function* rpcStream<T>(
  mesh: Mesh,
  call: RpcCall,
  schema: z.ZodType<T>,
): AsyncGenerator<T> {
  const response = await post(mesh, call, 'text/event-stream');
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
  if (!isStream || response.body === null) {
    const reply = RpcReply.safeParse(await response.json().catch(() => undefined));
    if (!reply.success) throw notAMesh(mesh, response);
    if (reply.data.error) throw toMeshError(reply.data.error, call);
    yield parsed(schema, reply.data.result, call);
    return;
  }
  for await (const data of eventData(unbroken(response.body, call))) {
    const reply = RpcReply.parse(JSON.parse(data));
    if (reply.error) throw toMeshError(reply.error, call);
    yield parsed(schema, reply.result, call);
  }
}

/** GET of JSON from the front, parsed with `schema`. */
export async function getJson<T>(
  mesh: Mesh,
  path: string,
  schema: z.ZodType<T>,
  signal: AbortSignal,
): Promise<T> {
  const response = await reach(mesh, path, {
    headers: headersOf(mesh, 'application/json'),
    signal,
  });
  return parsed(schema, await response.json().catch(() => undefined), { method: `GET ${path}` });
}

const headersOf = ({ token }: Mesh, accept: string): Record<string, string> => ({
  authorization: `Bearer ${token}`,
  accept,
  'a2a-version': '1.0',
});

async function post(mesh: Mesh, call: RpcCall, accept: string): Promise<Response> {
  const path = call.agentId === undefined ? '/' : `/agents/${call.agentId}/`;
  return reach(mesh, path, {
    method: 'POST',
    headers: { ...headersOf(mesh, accept), 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: call.method, params: call.params }),
    signal: call.signal,
  });
}

async function reach(mesh: Mesh, path: string, init: RequestInit): Promise<Response> {
  const response = await mesh.fetch(`${mesh.url}${path}`, init).catch((cause: unknown) => {
    if (init.signal?.aborted) throw cause;
    throw new BoardUnavailableError(
      `No mesh answers at ${mesh.url}. Start it with \`mesh up\`, or name another with --url.`,
      { cause },
    );
  });
  if (!response.ok) throw await httpError(mesh, path, response);
  return response;
}

/** Turns a connection that broke in the middle into a MeshError. */
async function* unbroken(
  body: AsyncIterable<Uint8Array>,
  { signal }: RpcCall,
): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch (cause) {
    if (signal.aborted) throw cause;
    throw new BoardUnavailableError(`The stream broke off: ${reasonOf(cause)}.`, { cause });
  }
}

function parsed<T>(schema: z.ZodType<T>, value: unknown, { method }: { method: string }): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const path = issue?.path.join('.') ?? '';
  throw new MeshError(
    'VALIDATION_ERROR',
    `The mesh's answer to ${method} has another shape than this command knows: ${path || 'the whole'}: ` +
      `${issue?.message ?? 'unknown'}. Use the same version on both sides.`,
    { path },
  );
}

const isMeshErrorCode = (reason: string | undefined): reason is MeshErrorCode =>
  meshErrorCodes.some((code) => code === reason);

/** Protocol errors that carry no reason of ours. */
const codeOfRpc: Readonly<Record<number, MeshErrorCode>> = {
  [-32001]: 'NOT_FOUND',
  [-32002]: 'BAD_TRANSITION',
  [-32004]: 'BAD_TRANSITION',
  [-32602]: 'VALIDATION_ERROR',
};

/** An error as the mesh gave it, so that it ends in the same exit code as one of this process. */
export function toMeshError(error: RpcError, { method }: Pick<RpcCall, 'method'>): Error {
  const detail = error.data?.find(({ reason }) => isMeshErrorCode(reason));
  const code = isMeshErrorCode(detail?.reason) ? detail.reason : codeOfRpc[error.code];
  if (code !== undefined) return new MeshError(code, error.message, factsOf(detail?.metadata));
  if (error.code === -32601) return notServed(method);
  return new Error(`${method} got error ${error.code}: ${error.message}`);
}

function notServed(method: string): MeshError {
  return new MeshError(
    'VALIDATION_ERROR',
    `This mesh does not serve ${method}. Use the same version on both sides.`,
    { path: 'method' },
  );
}

function factsOf(
  metadata: Readonly<Record<string, unknown>> = {},
): Record<string, string | number> {
  const plain = Object.entries(metadata).filter(
    (entry): entry is [string, string | number] =>
      typeof entry[1] === 'string' || typeof entry[1] === 'number',
  );
  return Object.fromEntries(plain);
}

const codeOfHttp: Readonly<Record<number, MeshErrorCode>> = {
  400: 'VALIDATION_ERROR',
  401: 'UNAUTHENTICATED',
  403: 'TRUST_DENIED',
  404: 'NOT_FOUND',
  409: 'BAD_TRANSITION',
  413: 'PAYLOAD_INLINE',
  429: 'QUOTA_EXCEEDED',
  502: 'FABRIC_DOWN',
  503: 'FABRIC_DOWN',
};

const Problem = z.looseObject({
  detail: z.string().optional(),
  code: z.string().optional(),
  error: RpcError.optional().catch(undefined),
});

async function httpError(mesh: Mesh, path: string, response: Response): Promise<Error> {
  const { data } = Problem.safeParse(await response.json().catch(() => undefined));
  if (data?.error) {
    const error = toMeshError(data.error, { method: path });
    if (error instanceof MeshError) return error;
  }
  const code = isMeshErrorCode(data?.code) ? data.code : codeOfHttp[response.status];
  if (code === undefined) return new Error(`${mesh.url}${path} answered HTTP ${response.status}.`);
  if (code === 'UNAUTHENTICATED') {
    return new MeshError(
      code,
      `The mesh at ${mesh.url} does not know this token. Give --token or MESH_TOKEN, or make one where it runs: mesh token create.`,
    );
  }
  return new MeshError(code, data?.detail ?? `${path} answered HTTP ${response.status}.`);
}

function notAMesh({ url }: Mesh, response: Response): MeshError {
  return new BoardUnavailableError(
    `What answers at ${url} is no mesh (HTTP ${response.status}, no JSON-RPC). Check --url.`,
  );
}

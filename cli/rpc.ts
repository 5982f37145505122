import { z } from 'zod';
import { eventData } from '../agents/calls/event-stream.ts';
import { errorDetails, post, readReply, RpcError } from '../agents/calls/rpc-wire.ts';
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

/**
 * One JSON-RPC call to the front, its answer parsed with `schema`.
 * @throws MeshError with the code the mesh named; `FABRIC_DOWN` when nothing answers
 */
export async function rpc<T>(mesh: Mesh, call: RpcCall, schema: z.ZodType<T>): Promise<T> {
  const response = await posted(mesh, call);
  return parsed(schema, await resultOf(mesh, call, response), call);
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
  const response = await posted(mesh, call);
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
  if (!isStream || response.body === null) {
    yield parsed(schema, await resultOf(mesh, call, response), call);
    return;
  }
  for await (const data of eventData(unbroken(response.body, call))) {
    yield parsed(schema, resultIn(mesh, call, response, data), call);
  }
}

async function resultOf(mesh: Mesh, call: RpcCall, response: Response): Promise<unknown> {
  return resultIn(mesh, call, response, await response.text().catch(() => ''));
}

function resultIn(mesh: Mesh, call: RpcCall, response: Response, text: string): unknown {
  const reply = readReply(text);
  if (reply === undefined) throw notAMesh(mesh, response);
  if (reply.error) throw toMeshError(reply.error, call);
  return reply.result;
}

/** GET of JSON from the front, parsed with `schema`. */
export async function getJson<T>(
  mesh: Mesh,
  path: string,
  schema: z.ZodType<T>,
  signal: AbortSignal,
): Promise<T> {
  const headers = { authorization: `Bearer ${mesh.token}`, accept: 'application/json' };
  const response = await reach(mesh, path, signal, (url) => mesh.fetch(url, { headers, signal }));
  return parsed(schema, await response.json().catch(() => undefined), { method: `GET ${path}` });
}

function posted(mesh: Mesh, { agentId, method, params, signal }: RpcCall): Promise<Response> {
  const path = agentId === undefined ? '/' : `/agents/${agentId}/`;
  const token = () => Promise.resolve(mesh.token);
  return reach(mesh, path, signal, (url) =>
    post(mesh.fetch, { url, token, method, params }, signal),
  );
}

async function reach(
  mesh: Mesh,
  path: string,
  signal: AbortSignal,
  ask: (url: string) => Promise<Response>,
): Promise<Response> {
  const response = await ask(`${mesh.url}${path}`).catch((cause: unknown) => {
    if (signal.aborted) throw cause;
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
  const detail = errorDetails(error).find(({ reason }) => isMeshErrorCode(reason));
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

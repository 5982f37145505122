import { extensionUris } from '../../cards/agent-card/agent-card-source.ts';
import { isRecord } from '../../cards/agent-card/json-record.ts';
import { MeshError } from '../../fabric/domain/errors.ts';
import { limits } from '../../fabric/domain/limits.ts';
import type { Principal, Scope } from '../../fabric/domain/principal.ts';
import { requireScope } from '../../fabric/queue/answer.ts';
import type { Authenticate } from '../auth/authenticate.ts';
import { Call } from './call.ts';
import type { Edge } from './edge.ts';
import { EnvelopeError, parseEnvelope, shapeOf, type Envelope } from './envelope.ts';
import { faultReporter, httpStatusOf } from './error-table.ts';
import { parseEventId } from './event-id.ts';
import { invalidField, parsedOrRefused } from './invalid-params.ts';
import { methodRow, scopeFor, type MethodRow } from './method-table.ts';
import { ProtocolError } from './protocol-error.ts';
import { drain, readBody } from './request-body.ts';
import { rpcAnswerer, type RpcAnswerer } from './rpc-answer.ts';
import { sseResponse } from './sse-response.ts';
import { wireVersionOf, type WireVersion } from './wire-version.ts';

/** What `WWW-Authenticate` says: which scheme is understood, not what was wrong. */
export const challenge = 'Bearer realm="cardmesh"';

/** Extensions that a client may ask for by header; what was asked for and is served is echoed. */
const servedExtensions: ReadonlySet<string> = new Set([
  extensionUris.submit,
  extensionUris.review,
  extensionUris.events,
]);

interface RouteParts {
  readonly edge: Edge;
  readonly answerer: RpcAnswerer;
}

/** A request whose sender is known and whose body is a JSON-RPC object. */
interface Asked {
  readonly request: Request;
  readonly principal: Principal;
  readonly envelope: Envelope;
  readonly version: WireVersion;
}

/**
 * `POST /` of a persona: both generations of A2A and our own methods on one address. What is wrong
 * with the HTTP request has an HTTP status; an error of a method travels with 200.
 */
export function rpcRoute(
  edge: Edge,
  authenticate: Authenticate,
): (request: Request) => Promise<Response> {
  const { log, random, clock } = edge.queue;
  const answerer = rpcAnswerer(edge, faultReporter(log, random));
  const refused = (error: unknown, status: number, headers: Record<string, string> = {}) =>
    json(answerer.failed(null, error, '1.0'), status, headers);

  return async (request) => {
    let principal: Principal;
    try {
      principal = await authenticate(request, edge.agentId);
    } catch (error) {
      await drain(request, clock);
      const status = error instanceof MeshError ? httpStatusOf(error.code) : 500;
      return refused(error, status, status === 401 ? { 'WWW-Authenticate': challenge } : {});
    }
    if (!isJson(request.headers.get('content-type'))) {
      await drain(request, clock);
      return refused(new ProtocolError('CONTENT_TYPE_NOT_SUPPORTED', notJson), 415);
    }
    const body = await readBody(request, limits.bodyBytes, clock);
    if (body.kind === 'too-large') {
      return refused(new ProtocolError('INVALID_REQUEST', tooLarge), 413, { Connection: 'close' });
    }
    if (body.kind === 'not-text') return refused(new ProtocolError('PARSE_ERROR', notUtf8), 200);
    return answered({ edge, answerer }, request, principal, body.text);
  };
}

const notJson = 'The body must be sent as Content-Type: application/json.';
const notUtf8 = 'The body is not UTF-8.';
const tooLarge =
  `The request has more than ${limits.bodyBytes} bytes. Put large content into a file, a repository or an ` +
  'artifact and name it by reference (contextRefs; `mesh`: --ref).';

const isJson = (contentType: string | null): boolean =>
  /^application\/json\s*(;|$)/i.test(contentType ?? '');

async function answered(
  parts: RouteParts,
  request: Request,
  principal: Principal,
  text: string,
): Promise<Response> {
  const { answerer } = parts;
  let envelope: Envelope;
  try {
    envelope = parseEnvelope(text);
  } catch (error) {
    return json(answerer.failed(error instanceof EnvelopeError ? error.id : null, error, '1.0'));
  }
  const { id, method } = envelope;
  let version: WireVersion = '1.0';
  try {
    version = wireVersionOf(parameterOf(request, 'A2A-Version'), method);
    const row = methodRow(method, version);
    if (row === undefined) throw noSuchMethod(method, version);
    const scope = scopeFor(row, envelope.params);
    if (!isAllowed(row, scope, principal)) {
      return json(answerer.failed(id, forbidden(scope, principal), version), 403);
    }
    const params = checkedParams(envelope, row);
    const asked = { request, principal, version, envelope: { ...envelope, params } };
    return await carriedOut(parts, asked);
  } catch (error) {
    return json(answerer.failed(id, error, version), 200, { 'A2A-Version': version });
  }
}

/** A header, else the query parameter of that name (A2A 1.0, 3.6.1). */
function parameterOf(request: Request, name: string): string | undefined {
  const header = request.headers.get(name);
  if (header !== null) return header;
  const start = request.url.indexOf('?');
  if (start < 0) return undefined;
  return new URLSearchParams(request.url.slice(start + 1)).get(name) ?? undefined;
}

function noSuchMethod(method: string, version: WireVersion): ProtocolError {
  return new ProtocolError(
    'METHOD_NOT_FOUND',
    `There is no method ${method} in A2A ${version}. See the Agent Card for what is served.`,
    { method },
  );
}

const isAllowed = (row: MethodRow, scope: Scope, { scopes, run }: Principal): boolean =>
  scopes.has(scope) && (run === undefined || row.forRuns === true);

function forbidden(scope: Scope, principal: Principal): unknown {
  try {
    requireScope(principal, scope);
  } catch (error) {
    return error;
  }
  return new MeshError(
    'TRUST_DENIED',
    `A run of ${principal.id} may submit children of its task, await them and add progress to it, nothing else.`,
  );
}

/** What is wrong with them is said before the SDK's codecs take them for something else (H5). */
function checkedParams({ params = {}, method }: Envelope, row: MethodRow): unknown {
  if (!isRecord(params))
    throw invalidField('params', `must be an object and is ${shapeOf(params)}`);
  parsedOrRefused(row.params, params, 'params');
  // Only the empty tenant passes; the transport would take it for one that is set twice (H4).
  const { tenant: _empty, ...rest } = params;
  const { configuration } = rest;
  // The SDK reads an absent `blocking` as false; every 0.3 server has blocked (H9).
  const mustBlock = method.startsWith('message/') && isRecord(configuration);
  return mustBlock ? { ...rest, configuration: { blocking: true, ...configuration } } : rest;
}

async function carriedOut({ edge, answerer }: RouteParts, asked: Asked): Promise<Response> {
  const { request, principal, envelope, version } = asked;
  // A stream can also be left by its reader; a signal costs, so only a stream gets one of its own.
  let signal = () => request.signal;
  const gone = () => signal();
  const call = new Call({ principal, version, gone, resume: resumeOf(request, envelope) });
  const headers = headersOf(asked);
  const outcome = await answerer.answer(envelope, call);
  if (outcome.kind === 'one') return json(outcome.answer, 200, headers);
  const { id } = envelope;
  const left = new AbortController();
  signal = () => left.signal;
  request.signal.addEventListener('abort', () => left.abort(), { once: true });
  if (request.signal.aborted) left.abort();
  const failed = (error: unknown) => answerer.failed(id, call.failure ?? error, version);
  try {
    // The first answer comes before the stream does: what is refused is one plain answer.
    const first = await outcome.answers.next();
    const eventId = () => call.eventId;
    const hangUp = () => left.abort();
    const stream = { first, rest: outcome.answers, eventId, hangUp, failed };
    return sseResponse(stream, edge.queue.clock, headers);
  } catch (error) {
    return json(failed(error), 200, headers);
  }
}

function resumeOf(request: Request, { params }: Envelope) {
  const inParams = isRecord(params) ? params['afterEvent'] : undefined;
  const text =
    request.headers.get('last-event-id') ??
    parameterOf(request, 'afterEvent') ??
    (typeof inParams === 'string' ? inParams : undefined);
  return parseEventId(text);
}

function headersOf({ request, version }: Asked): Record<string, string> {
  const name = version === '0.3' ? 'X-A2A-Extensions' : 'A2A-Extensions';
  const wanted = request.headers.get('a2a-extensions') ?? request.headers.get('x-a2a-extensions');
  const served = (wanted?.split(',') ?? [])
    .map((uri) => uri.trim())
    .filter((uri) => servedExtensions.has(uri));
  return { 'A2A-Version': version, ...(served.length > 0 ? { [name]: served.join(',') } : {}) };
}

const json = (body: unknown, status = 200, headers: Record<string, string> = {}): Response =>
  new Response(JSON.stringify(body), {
    status,
    headers: { 'Content-Type': 'application/json', ...headers },
  });

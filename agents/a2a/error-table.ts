import { MeshError, reasonOf, type MeshErrorCode } from '../../fabric/domain/errors.ts';
import type { Log } from '../../fabric/ports/log.ts';
import type { Random } from '../../fabric/ports/random.ts';
import { InvalidParamsError } from './invalid-params.ts';
import { ProtocolError, protocolErrors } from './protocol-error.ts';

interface ErrorRow {
  /** Code in a JSON-RPC error; ours lie outside the ranges that JSON-RPC and A2A reserve. */
  readonly rpcCode: number;
  readonly httpStatus: 400 | 401 | 403 | 404 | 409 | 413 | 422 | 429 | 503;
  readonly title: string;
}

/** What each code of ours is at this edge: the one table (`reference/shapes.md`, errors). */
const table = {
  VALIDATION_ERROR: { rpcCode: -32602, httpStatus: 400, title: 'A value is malformed' },
  INVALID_EFFECTIVE_PAIR: {
    rpcCode: -32602,
    httpStatus: 400,
    title: 'Model and effort are not a listed pair',
  },
  UNAUTHENTICATED: { rpcCode: 40101, httpStatus: 401, title: 'No valid credential' },
  TRUST_DENIED: { rpcCode: 40301, httpStatus: 403, title: 'Not allowed' },
  TAINT_GATE: { rpcCode: 40302, httpStatus: 403, title: 'Tainted input needs a person' },
  NOT_VERIFIER: { rpcCode: 40303, httpStatus: 403, title: 'Not a verifier of this task' },
  NOT_FOUND: { rpcCode: -32001, httpStatus: 404, title: 'Not found' },
  CAPABILITIES_STALE: { rpcCode: 40901, httpStatus: 409, title: 'Capabilities have changed' },
  CLAIM_UNCERTAIN: { rpcCode: 40902, httpStatus: 409, title: 'Claim not certain' },
  CLAIM_ORDER_PENDING: { rpcCode: 40903, httpStatus: 409, title: 'An earlier claim is pending' },
  CLAIM_REJECTED: { rpcCode: 40904, httpStatus: 409, title: 'Claim rejected' },
  LEASE_LOST: { rpcCode: 40905, httpStatus: 409, title: 'Lease lost' },
  RECEIPT_CONFLICT: { rpcCode: 40906, httpStatus: 409, title: 'A differing receipt is on record' },
  STALE_DECISION: { rpcCode: 40907, httpStatus: 409, title: 'The question is not open any more' },
  BAD_TRANSITION: { rpcCode: 40908, httpStatus: 409, title: 'The task does not take this now' },
  PAYLOAD_INLINE: { rpcCode: 41301, httpStatus: 413, title: 'Too much content inline' },
  DEPTH_EXCEEDED: { rpcCode: 42201, httpStatus: 422, title: 'Too many levels of delegation' },
  CYCLE_DETECTED: { rpcCode: 42202, httpStatus: 422, title: 'Delegation in a circle' },
  QUOTA_EXCEEDED: { rpcCode: 42901, httpStatus: 429, title: 'Too many tasks' },
  CAPACITY: { rpcCode: 42902, httpStatus: 429, title: 'A bound is reached' },
  NO_TARGET: { rpcCode: 50301, httpStatus: 503, title: 'Nobody can do this now' },
  FABRIC_DOWN: { rpcCode: 50302, httpStatus: 503, title: 'The board can’t be reached' },
} satisfies Record<MeshErrorCode, ErrorRow>;

export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

const errorInfoType = 'type.googleapis.com/google.rpc.ErrorInfo';

/**
 * An error as JSON-RPC shows it: `data` is an array with one ErrorInfo, for a value that is wrong
 * also a BadRequest. An error of no known kind shows only the id under which the log has it (H16).
 */
export function toRpcError(error: unknown, faults: FaultReporter): RpcError {
  if (error instanceof ProtocolError) {
    const { reason, message, facts } = error;
    const data = [infoOf(reason, 'a2a-protocol.org', facts)];
    return { code: protocolErrors[reason], message, data };
  }
  if (error instanceof MeshError) {
    const info = infoOf(error.code, 'cardmesh', factsOf(error));
    const data = [info, ...violationsOf(error)];
    return { code: table[error.code].rpcCode, message: error.message, data };
  }
  const faultId = faults.report(error);
  return {
    code: -32603,
    message: `A fault inside the mesh; its log has it as ${faultId}.`,
    data: [infoOf('INTERNAL', 'cardmesh', { faultId })],
  };
}

/** In 0.3 `data` is one object, not a list (`reference/a2a.md` 1.5). */
export function toLegacyRpcError(error: RpcError): RpcError {
  const [info] = Array.isArray(error.data) ? (error.data as unknown[]) : [];
  return {
    code: error.code,
    message: error.message,
    ...(info === undefined ? {} : { data: info }),
  };
}

function infoOf(reason: string, domain: string, metadata: Readonly<Record<string, string>>) {
  return {
    '@type': errorInfoType,
    reason,
    domain,
    ...(Object.keys(metadata).length > 0 ? { metadata } : {}),
  };
}

/** Facts as strings; an instant goes out in ISO form and loses its `Ms`. */
function factsOf({ facts }: MeshError): Record<string, string> {
  const told: Record<string, string> = {};
  for (const [name, value] of Object.entries(facts)) {
    if (value === undefined) continue;
    if (name === 'retryAtMs') told['retryAt'] = new Date(Number(value)).toISOString();
    else told[name] = String(value);
  }
  return told;
}

function violationsOf(error: MeshError): unknown[] {
  if (error.code !== 'VALIDATION_ERROR' || error.facts.path === undefined) return [];
  const fieldViolations =
    error instanceof InvalidParamsError
      ? error.violations
      : [{ field: error.facts.path, description: error.message }];
  return [{ '@type': 'type.googleapis.com/google.rpc.BadRequest', fieldViolations }];
}

/** RFC 9457 problem of a plain HTTP route. */
export interface Problem {
  readonly status: ErrorRow['httpStatus'] | 500;
  readonly body: Readonly<Record<string, unknown>>;
}

export function toProblem(error: unknown, faults: FaultReporter): Problem {
  if (!(error instanceof MeshError)) {
    const faultId = faults.report(error);
    const detail = `A fault inside the mesh; its log has it as ${faultId}.`;
    return { status: 500, body: { title: 'Internal fault', status: 500, detail, faultId } };
  }
  const { httpStatus: status, title } = table[error.code];
  const { code, message: detail } = error;
  return { status, body: { title, status, detail, code, ...factsOf(error) } };
}

/** HTTP status of a code of ours, for what is refused before any method is looked at. */
export const httpStatusOf = (code: MeshErrorCode): ErrorRow['httpStatus'] => table[code].httpStatus;

/** Keeps what a caller is not told. */
export interface FaultReporter {
  /** Logs the error and returns the id that the caller is given. */
  report(error: unknown): string;
}

export function faultReporter(log: Log, random: Random): FaultReporter {
  return {
    report(error) {
      const faultId = random.hex(6);
      log.error('edge.fault', { faultId, reason: reasonOf(error) });
      return faultId;
    },
  };
}

import { isRecord } from '../../cards/agent-card/json-record.ts';
import { ProtocolError } from './protocol-error.ts';

export type RpcId = string | number | null;

export interface Envelope {
  readonly id: RpcId;
  readonly method: string;
  /** Not checked yet; undefined where there are none. */
  readonly params: unknown;
}

/** What was wrong with an envelope, with the id to answer under where it could be read. */
export class EnvelopeError extends ProtocolError {
  readonly id: RpcId;

  constructor(reason: 'PARSE_ERROR' | 'INVALID_REQUEST', message: string, id: RpcId = null) {
    super(reason, message);
    this.id = id;
  }
}

/** Deepest nesting that is read; JSON beyond it would overflow whoever writes it out again. */
const deepest = 64;

/**
 * A JSON-RPC 2.0 request from its text. The SDK's own reader takes too much (H5).
 * @throws EnvelopeError
 */
export function parseEnvelope(text: string): Envelope {
  const body = parseJson(text);
  if (!isRecord(body)) {
    throw new EnvelopeError(
      'INVALID_REQUEST',
      `The request is ${shapeOf(body)} and must be one JSON-RPC object; batches are not served.`,
    );
  }
  const id = idOf(body);
  if (body['jsonrpc'] !== '2.0') {
    throw new EnvelopeError('INVALID_REQUEST', 'jsonrpc must be "2.0".', id);
  }
  const { method, params } = body;
  if (typeof method !== 'string' || method === '' || method.length > 128) {
    throw new EnvelopeError('INVALID_REQUEST', 'method must be a text of 1 to 128 characters.', id);
  }
  return { id, method, params };
}

function parseJson(text: string): unknown {
  if (isTooDeep(text)) {
    throw new EnvelopeError('INVALID_REQUEST', `The request nests deeper than ${deepest} levels.`);
  }
  try {
    return JSON.parse(text);
  } catch {
    throw new EnvelopeError('PARSE_ERROR', 'The body is not JSON.');
  }
}

function idOf(body: Readonly<Record<string, unknown>>): RpcId {
  const { id } = body;
  if (id === undefined || id === null) return null;
  if (typeof id === 'string' || (typeof id === 'number' && Number.isInteger(id))) return id;
  throw new EnvelopeError('INVALID_REQUEST', 'id must be a text, a whole number or null.');
}

/** Counts brackets outside of strings; short texts can't be deep enough to matter. */
function isTooDeep(text: string): boolean {
  if (text.length <= 2 * deepest) return false;
  let depth = 0;
  let inString = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (inString) {
      if (code === backslash) at++;
      else if (code === quote) inString = false;
    } else if (code === quote) inString = true;
    else if (code === openBrace || code === openBracket) {
      if (++depth > deepest) return true;
    } else if (code === closeBrace || code === closeBracket) depth--;
  }
  return false;
}

const quote = 0x22;
const backslash = 0x5c;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

export function shapeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return `a list of ${value.length}`;
  return `a ${typeof value}`;
}

/** Errors that A2A and JSON-RPC define, by the name that ErrorInfo carries as its reason. */
export const protocolErrors = {
  PARSE_ERROR: -32700,
  INVALID_REQUEST: -32600,
  METHOD_NOT_FOUND: -32601,
  TASK_NOT_CANCELABLE: -32002,
  PUSH_NOTIFICATION_NOT_SUPPORTED: -32003,
  UNSUPPORTED_OPERATION: -32004,
  CONTENT_TYPE_NOT_SUPPORTED: -32005,
  VERSION_NOT_SUPPORTED: -32009,
} as const;
export type ProtocolErrorName = keyof typeof protocolErrors;

/** What the protocol has a code of its own for; everything else is a MeshError. */
export class ProtocolError extends Error {
  readonly reason: ProtocolErrorName;
  readonly facts: Readonly<Record<string, string>>;

  constructor(
    reason: ProtocolErrorName,
    message: string,
    facts: Readonly<Record<string, string>> = {},
  ) {
    super(message);
    this.name = 'ProtocolError';
    this.reason = reason;
    this.facts = facts;
  }
}

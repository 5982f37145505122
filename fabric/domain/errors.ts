/** Every code the mesh answers with; the tables of each edge are `Record<MeshErrorCode, …>`. */
export const meshErrorCodes = [
  'VALIDATION_ERROR',
  'INVALID_EFFECTIVE_PAIR',
  'UNAUTHENTICATED',
  'TRUST_DENIED',
  'TAINT_GATE',
  'NOT_VERIFIER',
  'NOT_FOUND',
  'CAPABILITIES_STALE',
  'CLAIM_UNCERTAIN',
  'CLAIM_ORDER_PENDING',
  'CLAIM_REJECTED',
  'LEASE_LOST',
  'RECEIPT_CONFLICT',
  'STALE_DECISION',
  'BAD_TRANSITION',
  'PAYLOAD_INLINE',
  'DEPTH_EXCEEDED',
  'CYCLE_DETECTED',
  'QUOTA_EXCEEDED',
  'CAPACITY',
  'NO_TARGET',
  'FABRIC_DOWN',
] as const;
export type MeshErrorCode = (typeof meshErrorCodes)[number];

/** Facts that go with an error to the caller: short strings, no secret, prompt or remote body. */
export interface MeshErrorFacts {
  /** Which field, as a path: `params.message.parts[0]`. */
  readonly path?: string;
  /** When to try again, ms since the epoch. */
  readonly retryAtMs?: number;
  readonly taskId?: string;
  readonly [fact: string]: string | number | undefined;
}

/** An error with a code that each edge knows how to show; the message says what failed and what to do. */
export class MeshError extends Error {
  readonly code: MeshErrorCode;
  readonly facts: MeshErrorFacts;

  constructor(
    code: MeshErrorCode,
    message: string,
    facts: MeshErrorFacts = {},
    options: { cause?: unknown } = {},
  ) {
    super(message, options);
    this.name = 'MeshError';
    this.code = code;
    this.facts = facts;
  }
}

/** A value that does not have its shape; `path` names the field. */
export class InvalidValueError extends MeshError {
  constructor(message: string, path: string, options: { cause?: unknown } = {}) {
    super('VALIDATION_ERROR', message, { path }, options);
    this.name = 'InvalidValueError';
  }
}

/** The store does not answer; nothing was acknowledged. */
export class BoardUnavailableError extends MeshError {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super('FABRIC_DOWN', message, {}, options);
    this.name = 'BoardUnavailableError';
  }
}

/** The one sentence of an unknown value, for messages and logs. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

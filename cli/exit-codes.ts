import type { MeshErrorCode } from '../fabric/domain/errors.ts';

/** How the command ends apart from errors of the mesh; scripts branch on these (`docs/cli.md`). */
export const exitCodes = {
  ok: 0,
  /** A fault of ours, or a check that found something (`cards lint`, `doctor`). */
  fault: 1,
  /** The command line itself. */
  usage: 2,
  /** `send`, `stream`, `watch`: the task ended without a result. */
  taskFailed: 13,
  /** `send`, `stream`, `watch`: the task waits for a person. */
  taskWaits: 14,
  /** `task next`: nothing to take. */
  nothingToTake: 15,
  /** Ctrl-C. */
  interrupted: 130,
} as const;

/** The one table from an error of the mesh to the command's exit code. */
export const exitCodeOf = {
  VALIDATION_ERROR: 3,
  INVALID_EFFECTIVE_PAIR: 3,
  PAYLOAD_INLINE: 3,
  UNAUTHENTICATED: 4,
  TRUST_DENIED: 5,
  TAINT_GATE: 5,
  NOT_VERIFIER: 5,
  NOT_FOUND: 6,
  BAD_TRANSITION: 7,
  STALE_DECISION: 7,
  RECEIPT_CONFLICT: 7,
  CLAIM_REJECTED: 7,
  CLAIM_ORDER_PENDING: 7,
  LEASE_LOST: 8,
  QUOTA_EXCEEDED: 9,
  CAPACITY: 9,
  DEPTH_EXCEEDED: 9,
  CYCLE_DETECTED: 9,
  NO_TARGET: 10,
  CAPABILITIES_STALE: 10,
  FABRIC_DOWN: 11,
  CLAIM_UNCERTAIN: 12,
} as const satisfies Record<MeshErrorCode, number>;

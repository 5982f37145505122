import type { Availability } from '../../fabric/ports/availability.ts';

/** One independent factor of a(t): 1, or 0 with one sentence why. Never a fraction: that invites gambling. */
export type Term =
  { readonly a: 1 } | { readonly a: 0; readonly reason: string; readonly untilMs?: number };

export const holds: Term = { a: 1 };

/**
 * a(t) = the product of its terms (`reference/litellm.md` 5.3). It is 1 again when the last of those that are 0
 * is, so `untilMs` is the latest; one term that nobody can date leaves it open.
 */
export function product(terms: readonly Term[]): Availability {
  const zeros = terms.filter((term) => term.a === 0);
  if (zeros.length === 0) return { a: 1, reasons: [] };
  const instants = zeros.flatMap(({ untilMs }) => untilMs ?? []);
  const reasons = zeros.map(({ reason }) => reason);
  if (instants.length < zeros.length) return { a: 0, reasons };
  return { a: 0, reasons, untilMs: Math.max(...instants) };
}

/** An availability of its own as one factor of a larger one. */
export function termOf({ a, reasons, untilMs }: Availability): Term {
  if (a === 1) return holds;
  return { a: 0, reason: reasons.join('; '), ...(untilMs !== undefined && { untilMs }) };
}

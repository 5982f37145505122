import type { Random } from '../../../fabric/ports/random.ts';

/** Who can be struck: three processes of workers, on two hosts, and a keeper. */
export const slots = ['work-1', 'work-2', 'work-3', 'keep-1'] as const;
export type Slot = (typeof slots)[number];
export const hostOf = (slot: Slot): string => (slot === 'work-3' ? 'b' : 'a');

/** What befalls the mesh, and for how long. */
export type Strike =
  /** SIGKILL; it is started again, after `forMs`, with the mirror that it left. */
  | { readonly kind: 'kill'; readonly slot: Slot; readonly forMs: number }
  /** SIGSTOP past its lease, then SIGCONT. */
  | { readonly kind: 'stop'; readonly slot: Slot; readonly forMs: number }
  /** SIGKILL for all of Kanboard; restarted after `forMs`. */
  | { readonly kind: 'kill-board'; readonly forMs: number }
  /** SIGSTOP for all of Kanboard: what is sent meanwhile is executed after its sender gave up. */
  | { readonly kind: 'pause-board'; readonly forMs: number }
  /** The network between processes and Kanboard refuses every connection. */
  | { readonly kind: 'cut'; readonly forMs: number };

export interface NemesisPlan {
  readonly strikes: readonly (Strike & { readonly atMs: number })[];
}

/** The same strikes for the same seed; one about every `everyMs`, until `stormMs`. */
export function nemesisPlan(random: Random, stormMs: number, everyMs: number): NemesisPlan {
  const strikes: (Strike & { atMs: number })[] = [];
  for (let atMs = everyMs * random.fraction(); atMs < stormMs;) {
    strikes.push({ ...strikeOf(random), atMs: Math.round(atMs) });
    atMs += 2 * everyMs * random.fraction();
  }
  return { strikes };
}

/** A stop lasts longer than a lease of six seconds more often than not. */
function strikeOf(random: Random): Strike {
  const slot = slots[Math.floor(random.fraction() * slots.length)]!;
  const upTo = (ms: number) => Math.round(ms * random.fraction());
  const roll = random.fraction();
  if (roll < 0.4) return { kind: 'kill', slot, forMs: upTo(1_000) };
  if (roll < 0.65) return { kind: 'stop', slot, forMs: 3_000 + upTo(7_000) };
  if (roll < 0.8) return { kind: 'kill-board', forMs: upTo(1_500) };
  if (roll < 0.9) return { kind: 'pause-board', forMs: 500 + upTo(4_000) };
  return { kind: 'cut', forMs: upTo(4_000) };
}

import type { TaskEvent } from '../../fabric/domain/events.ts';

/** The narrow places that a simulation has to have been in, each with what makes it narrow. */
export const raceWindows = {
  'claim-claim': 'two workers write the same slot',
  'claim-cancel': 'a person cancels while a worker claims',
  'start-cancel': 'a person cancels or takes back while the holder appends started',
  'cancel-settle': 'a cancel and an outcome meet in one slot',
  'revoke-settle': 'a take-back and an outcome meet in one slot',
  'expire-settle': 'an observer gives a claim up while its holder puts an end on record',
  'expire-beat': 'a beat arrives between an observer’s last look and its expiry',
  'expire-started': 'an observer gives a claim up while its holder appends started',
  'keeper-keeper': 'two keepers expire the same claim',
  'answer-cancel': 'an answer and a cancel meet in one slot',
  'verify-verify': 'two verdicts meet in one slot',
  'submit-submit': 'the same submit arrives twice at once',
  'pause-past-lease': 'a holder is stopped past its lease and goes on',
  'suspend-past-lease': 'a holder’s host sleeps past its lease',
  'answer-lost-claim': 'a claim is written and its answer lost',
  'answer-lost-started': 'a started is written and its answer lost',
  'answer-lost-outcome': 'an outcome is written and its answer lost',
  'late-append': 'an append is executed after its sender gave up',
  'duplicate-append': 'an append is executed twice',
  'crash-before-started': 'a process dies between claim and started',
  'crash-after-started': 'a process dies while its run is under way',
  'crash-loses-buffer': 'a process dies with events not yet durable',
  'orphan-run': 'a run outlives its process and acts',
  'stale-end': 'an overtaken run has its end refused',
  restart: 'a process comes back under a new incarnation',
  'clock-step': 'a wall clock is stepped while a run is under way',
  outage: 'the board can’t be reached while a run is under way',
  'card-reload': 'concurrency or admission change while work is under way',
  'caller-told': 'a waiting caller hears what a run brought, which has to be on record',
  'late-margin': 'too little of the lease is left for a spawn, so the claim is handed back',
} as const;
export type RaceWindow = keyof typeof raceWindows;

/** How often each window was hit. */
export class WindowCounts {
  readonly #counts = new Map<RaceWindow, number>();

  hit(window: RaceWindow, times = 1): void {
    this.#counts.set(window, this.of(window) + times);
  }

  of(window: RaceWindow): number {
    return this.#counts.get(window) ?? 0;
  }

  add(other: WindowCounts): void {
    for (const [window, count] of other.#counts) this.hit(window, count);
  }

  /** Windows hit fewer than `least` times. */
  below(least: number): string[] {
    const names = Object.keys(raceWindows) as RaceWindow[];
    return names
      .filter((name) => this.of(name) < least)
      .map((name) => `${name} (${this.of(name)} of ${least}): ${raceWindows[name]}`);
  }

  toString(): string {
    const names = Object.keys(raceWindows) as RaceWindow[];
    return names.map((name) => `  ${name.padEnd(22)} ${this.of(name)}`).join('\n');
  }
}

const ends = new Set([
  'settled',
  'failed',
  'parked',
  'released',
  'deferred',
  'asked',
  'uncertain',
  'revoked',
]);
const cancels = new Set(['canceled', 'cancelRequested']);

/** Which window two events that want the same slot stand for, whichever was first. */
export function windowOf(one: TaskEvent, other: TaskEvent): RaceWindow | undefined {
  const is = (a: (kind: string) => boolean, b: (kind: string) => boolean): boolean =>
    (a(one.kind) && b(other.kind)) || (b(one.kind) && a(other.kind));
  const kind = (name: string) => (seen: string) => seen === name;
  const anEnd = (seen: string) => ends.has(seen);
  const aCancel = (seen: string) => cancels.has(seen);
  const aVerdict = (seen: string) => seen === 'verified' || seen === 'refused';
  const takesBack = (seen: string) => cancels.has(seen) || seen === 'revokeRequested';
  if (is(kind('claimed'), kind('claimed'))) return 'claim-claim';
  if (is(kind('claimed'), aCancel)) return 'claim-cancel';
  if (is(kind('started'), takesBack)) return 'start-cancel';
  if (is(kind('started'), kind('expired'))) return 'expire-started';
  if (is(kind('expired'), kind('expired'))) return 'keeper-keeper';
  if (is(kind('expired'), anEnd)) return 'expire-settle';
  if (is(kind('revokeRequested'), anEnd)) return 'revoke-settle';
  if (is(aCancel, anEnd)) return 'cancel-settle';
  if (is(kind('answered'), aCancel)) return 'answer-cancel';
  if (is(aVerdict, aVerdict)) return 'verify-verify';
  if (is(kind('submitted'), kind('submitted'))) return 'submit-submit';
  return undefined;
}

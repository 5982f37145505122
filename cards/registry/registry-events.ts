import type { Log } from '../../fabric/ports/log.ts';
import { reasonOf } from '../../fabric/domain/errors.ts';
import type { CardProblem } from '../schema/card-problem.ts';
import type { CardSet } from './card-set.ts';

/** What happened to the served set. */
export type RegistryEvent =
  | ({ readonly kind: 'swapped'; readonly commit: string } & SetChange)
  | ({ readonly kind: 'refused' } & Refusal);

/** Ids of the agents that came, changed (Card or persona text) and went, each sorted. */
export interface SetChange {
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly removed: readonly string[];
}

/** A commit that is not served, and everything wrong with it. */
export interface Refusal {
  readonly commit: string;
  readonly problems: readonly CardProblem[];
}

export type RegistryListener = (event: RegistryEvent) => void;

export interface RegistryAnnouncer {
  /** Returns how to stop listening. */
  readonly listen: (listener: RegistryListener) => () => void;
  readonly announce: RegistryListener;
}

/** Tells every listener; one that throws is logged and stops none of the others. */
export function registryAnnouncer(log: Log): RegistryAnnouncer {
  const listeners = new Set<RegistryListener>();
  return {
    listen(listener: RegistryListener): () => void {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    announce(event: RegistryEvent): void {
      logEvent(log, event);
      for (const listener of [...listeners]) {
        try {
          listener(event);
        } catch (error) {
          log.error('cards.listener-failed', { commit: event.commit, reason: reasonOf(error) });
        }
      }
    },
  };
}

function logEvent(log: Log, event: RegistryEvent): void {
  if (event.kind === 'swapped') {
    const [added, changed, removed] = [
      event.added.join(),
      event.changed.join(),
      event.removed.join(),
    ];
    log.info('cards.swapped', { commit: event.commit, added, changed, removed });
    return;
  }
  const [first] = event.problems;
  log.error('cards.refused', {
    commit: event.commit,
    problems: event.problems.length,
    file: first?.file,
    line: first?.line,
    field: first?.path,
    code: first?.code,
  });
}

export function changeBetween(before: CardSet | undefined, after: CardSet): SetChange {
  const old = before?.cards ?? new Map<string, never>();
  const print = (set: CardSet | undefined, id: string) =>
    JSON.stringify([set?.cards.get(id), set?.persona(id)]);
  const ids = [...after.cards.keys()].sort();
  return {
    added: ids.filter((id) => !old.has(id)),
    changed: ids.filter((id) => old.has(id) && print(before, id) !== print(after, id)),
    removed: [...old.keys()].filter((id) => !after.cards.has(id)).sort(),
  };
}

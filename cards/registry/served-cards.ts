import { resolve } from 'node:path';
import { MeshError, reasonOf } from '../../fabric/domain/errors.ts';
import type { Clock } from '../../fabric/ports/clock.ts';
import type { Log } from '../../fabric/ports/log.ts';
import type { BranchSource } from './branch-source.ts';
import { type CardSet, type CardSetReading, readCardSet } from './card-set.ts';
import { CardsRefusedError } from './cards-refused.ts';
import { readCommittedTree } from './committed-tree.ts';
import { commitOf, type Git } from './git.ts';
import { lastGoodFile } from './last-good.ts';
import { catalogFolder } from './package-root.ts';
import { changeBetween, type Refusal, type RegistryListener } from './registry-events.ts';

export interface ServeCardsInput {
  readonly git: Git;
  readonly source: BranchSource;
  readonly announce: RegistryListener;
  readonly options: SetPlace & {
    readonly stateDir: string;
    readonly branch: string;
    readonly log: Log;
  };
}

interface SetPlace {
  readonly home: string;
  readonly defaultHuman: () => string;
  readonly clock: Clock;
}

/** The one set in use, and the judge of every newer commit. */
export interface ServedCards {
  readonly current: () => CardSet;
  readonly refusal: () => Refusal | undefined;
  /** Judges the branch's commit if it is new, or in any case with `again`. One at a time, in turn. */
  look(call?: { readonly again: boolean }): Promise<void>;
}

/** Starts with the newest commit, else with the last good one; rejects with CardsRefusedError. */
export async function serveCards({
  git,
  source,
  announce,
  options,
}: ServeCardsInput): Promise<ServedCards> {
  const lastGood = lastGoodFile(options.stateDir);
  const first = await firstSet(git, await source.commit(), await lastGood.read(), options);
  let { set, refusal } = first;
  let judged = refusal?.commit ?? set.commit;
  const remember = (commit: string) =>
    lastGood.write(commit).catch((error: unknown) => {
      // A full disk costs the memory of the next start, not the reload.
      options.log.error('cards.not-remembered', { commit, reason: reasonOf(error) });
    });
  await remember(set.commit);
  announce({ kind: 'swapped', commit: set.commit, ...changeBetween(undefined, set) });
  if (refusal) announce({ kind: 'refused', ...refusal });

  const judge = async (commit: string) => {
    const reading = await readAt(git, commit, options);
    judged = commit;
    if (!reading.ok) {
      refusal = { commit, problems: reading.problems };
      announce({ kind: 'refused', ...refusal });
      return;
    }
    await remember(commit);
    const change = changeBetween(set, reading.set);
    const isNews = commit !== set.commit || Object.values(change).flat().length > 0;
    set = reading.set;
    refusal = undefined;
    if (isNews) announce({ kind: 'swapped', commit, ...change });
  };
  let turn = Promise.resolve();
  return {
    current: () => set,
    refusal: () => refusal,
    look({ again } = { again: false }) {
      const mine = turn.then(async () => {
        const commit = await source.commit();
        if (commit !== undefined && (again || commit !== judged)) await judge(commit);
      });
      turn = mine.catch(() => undefined);
      return mine;
    },
  };
}

interface FirstSet {
  readonly set: CardSet;
  readonly refusal: Refusal | undefined;
}

async function firstSet(
  git: Git,
  newest: string | undefined,
  remembered: string | undefined,
  options: ServeCardsInput['options'],
): Promise<FirstSet> {
  if (newest === undefined) {
    const words = `Branch ${options.branch} of ${options.home} has no commit`;
    throw new MeshError('NOT_FOUND', `${words}. Run \`mesh init\` or commit the Cards.`);
  }
  const reading = await readAt(git, newest, options);
  if (reading.ok) return { set: reading.set, refusal: undefined };
  const refusal = { commit: newest, problems: reading.problems };
  const known = remembered === undefined ? undefined : await commitOf(git, remembered);
  const old = known === undefined ? undefined : await readAt(git, known, options);
  if (old?.ok !== true) throw new CardsRefusedError(refusal);
  return { set: old.set, refusal };
}

async function readAt(git: Git, commit: string, options: SetPlace): Promise<CardSetReading> {
  return readCardSet(await readCommittedTree(git, commit), {
    nowMs: options.clock.nowMs(),
    defaultHuman: options.defaultHuman(),
    folders: { catalog: catalogFolder(), home: resolve(options.home) },
  });
}

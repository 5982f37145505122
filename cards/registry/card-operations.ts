import { resolve } from 'node:path';
import { MeshError } from '../../fabric/domain/errors.ts';
import type { Card } from '../schema/card.ts';
import type { CardProblem } from '../schema/card-problem.ts';
import { type CardRevision, cardHistory } from './card-history.ts';
import { type CardSet, type CardSetReading, readCardSet } from './card-set.ts';
import { CardsRefusedError } from './cards-refused.ts';
import { type CommittedTree, readCommittedTree } from './committed-tree.ts';
import { commitOf, gitIn } from './git.ts';
import { catalogFolder } from './package-root.ts';
import { readWorkTree } from './work-tree.ts';

/** One look at a home's Cards, without a running mesh. */
export interface HomeView {
  readonly home: string;
  /** A commit or branch; absent: the files as they lie there, committed or not. */
  readonly ref?: string;
  readonly defaultHuman: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly nowMs: number;
}

/** Everything wrong with the Cards; errors keep a commit from being served, warnings do not. */
export async function lintCards(view: HomeView): Promise<readonly CardProblem[]> {
  const reading = await readView(view);
  return reading.ok ? reading.set.warnings : reading.problems;
}

/** A line of `mesh cards list`. */
export type CardRow = Pick<Card, 'id' | 'name' | 'runtime' | 'trust' | 'cost' | 'version'> & {
  readonly tier?: Card['tier'];
  readonly queue: string;
  readonly skills: readonly string[];
  /** Without a key an agent is served but can't call. */
  readonly canCall: boolean;
};

/** Rejects with CardsRefusedError when the set has errors. */
export async function listCards(view: HomeView): Promise<readonly CardRow[]> {
  const { cards } = await soundSet(view);
  return [...cards.values()].map(
    ({ id, name, runtime, trust, cost, version, tier, queue, skills, identity }) => ({
      ...{ id, name, runtime, trust, cost, version },
      ...(tier && { tier }),
      queue: queue.project,
      skills: skills.map((skill) => skill.id),
      canCall: identity !== undefined,
    }),
  );
}

export interface ShownCard {
  readonly card: Card;
  readonly persona?: string;
  /** Who changed it last; absent where it was never committed. */
  readonly lastChange?: CardRevision;
}

/** Rejects with MeshError NOT_FOUND for an unknown agent, with CardsRefusedError for a bad set. */
export async function showCard(view: HomeView, agentId: string): Promise<ShownCard> {
  const set = await soundSet(view);
  const card = set.cards.get(agentId);
  if (card === undefined) {
    const known = [...set.cards.keys()].join(', ');
    throw new MeshError('NOT_FOUND', `No Card is called "${agentId}". There are: ${known}.`);
  }
  const persona = set.persona(agentId);
  const [lastChange] = await cardHistory(gitIn({ ...view, dir: view.home }), agentId, 1);
  return { card, ...(persona !== undefined && { persona }), ...(lastChange && { lastChange }) };
}

async function soundSet(view: HomeView): Promise<CardSet> {
  const reading = await readView(view);
  if (reading.ok) return reading.set;
  throw new CardsRefusedError({ commit: view.ref ?? 'work tree', problems: reading.problems });
}

async function readView(view: HomeView): Promise<CardSetReading> {
  return readCardSet(await treeOf(view), {
    nowMs: view.nowMs,
    defaultHuman: view.defaultHuman,
    folders: { catalog: catalogFolder(), home: resolve(view.home) },
  });
}

async function treeOf({ home, ref, environment }: HomeView): Promise<CommittedTree> {
  if (ref === undefined) return readWorkTree(home);
  const git = gitIn({ dir: home, environment });
  const commit = await commitOf(git, ref);
  if (commit !== undefined) return readCommittedTree(git, commit);
  throw new MeshError('NOT_FOUND', `"${ref}" is no commit of this home. Name a commit or branch.`);
}

import { join, resolve } from 'node:path';
import { MeshError } from '../../fabric/domain/errors.ts';
import { AgentId } from '../../fabric/domain/ids.ts';
import type { AgentPolicy } from '../../fabric/ports/directory.ts';
import type { Card } from '../schema/card.ts';
import type { CardProblem } from '../schema/card-problem.ts';
import { policyOf } from './agent-policy.ts';
import { type CardRevision, cardHistory } from './card-history.ts';
import { type CardSet, type CardSetReading, readCardSet } from './card-set.ts';
import { CardsRefusedError } from './cards-refused.ts';
import { type CommittedTree, readCommittedTree } from './committed-tree.ts';
import { commitOf, gitIn } from './git.ts';
import { lastGoodFile } from './last-good.ts';
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

/** What stands between the files as they lie there and the set that was read in their place. */
export interface InPlace {
  /** The commit that was read: the newest one, or the last that was served. */
  readonly commit: string;
  readonly problems: readonly CardProblem[];
}

export interface ListedCards {
  readonly rows: readonly CardRow[];
  readonly inPlace?: InPlace;
}

/**
 * The agents of `view.ref`, which has to be sound; of the files as they lie there, where they are sound,
 * else of the commit that is served meanwhile. Rejects with CardsRefusedError when there is no such set.
 */
export async function listCards(view: HomeView): Promise<ListedCards> {
  const { set, inPlace } = await soundSet(view);
  return { rows: rowsOf(set), ...(inPlace && { inPlace }) };
}

function rowsOf({ cards }: CardSet): readonly CardRow[] {
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

/** What the fabric knows of each agent, as a mesh of this home would have it now. Rejects as `listCards` does. */
export async function listPolicies(view: HomeView): Promise<readonly AgentPolicy[]> {
  const set = (await servedSet(view)) ?? (await soundSet({ ...view, ref: 'HEAD' })).set;
  const defaultHuman = AgentId.parse(view.defaultHuman);
  return [...set.cards.values()].map((card) => policyOf(card, set.commit, defaultHuman));
}

export interface ShownCard {
  readonly card: Card;
  readonly persona?: string;
  /** Who changed it last; absent where it was never committed. */
  readonly lastChange?: CardRevision;
  readonly inPlace?: InPlace;
}

/** As `listCards` reads them. Rejects with MeshError NOT_FOUND for an unknown agent. */
export async function showCard(view: HomeView, agentId: string): Promise<ShownCard> {
  const { set, inPlace } = await soundSet(view);
  const card = set.cards.get(agentId);
  if (card === undefined) {
    const known = [...set.cards.keys()].join(', ');
    const where = inPlace ? ` in ${inPlace.commit.slice(0, 12)}; see \`mesh cards lint\`` : '';
    throw new MeshError(
      'NOT_FOUND',
      `No Card is called "${agentId}"${where}. There are: ${known}.`,
    );
  }
  const persona = set.persona(agentId);
  const [lastChange] = await cardHistory(gitIn({ ...view, dir: view.home }), agentId, 1);
  return {
    card,
    ...(persona !== undefined && { persona }),
    ...(lastChange && { lastChange }),
    ...(inPlace && { inPlace }),
  };
}

async function soundSet(view: HomeView): Promise<{ readonly set: CardSet; inPlace?: InPlace }> {
  const reading = await readView(view);
  if (reading.ok) return { set: reading.set };
  const { problems } = reading;
  const served = view.ref === undefined ? await servedSet(view) : undefined;
  if (served !== undefined) return { set: served, inPlace: { commit: served.commit, problems } };
  throw new CardsRefusedError({ commit: view.ref ?? 'work tree', problems });
}

/** What a mesh serves of this home now: the newest commit, where that is bad the last that was good. */
async function servedSet(view: HomeView): Promise<CardSet | undefined> {
  const git = gitIn({ ...view, dir: view.home });
  const remembered = await lastGoodFile(join(view.home, 'state')).read();
  for (const name of ['HEAD', ...(remembered === undefined ? [] : [remembered])]) {
    const ref = await commitOf(git, name).catch(() => undefined);
    const reading = ref === undefined ? undefined : await readView({ ...view, ref });
    if (reading?.ok === true) return reading.set;
  }
  return undefined;
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

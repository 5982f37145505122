import { MeshError } from '../../fabric/domain/errors.ts';
import { AgentId } from '../../fabric/domain/ids.ts';
import { parsedAs } from '../../fabric/domain/parsed-as.ts';
import type { Card } from '../schema/card.ts';
import type { CardProblem } from '../schema/card-problem.ts';
import { type CardReading, readCard } from '../schema/read-card.ts';
import { type CommittedTree, readCommittedTree } from './committed-tree.ts';
import { commitOf, type Git } from './git.ts';

/** One commit that touched an agent's Card or persona. */
export interface CardRevision {
  readonly commit: string;
  readonly atMs: number;
  readonly author: string;
  readonly subject: string;
}

/** Who changed this agent, newest first, at most `limit` commits. Rejects with GitError. */
export async function cardHistory(
  git: Git,
  agentId: string,
  limit = 50,
): Promise<readonly CardRevision[]> {
  const id = parsedAs(AgentId, agentId, 'agent');
  const paths = [`cards/${id}.card.yaml`, `personas/${id}.md`];
  const shape = '--format=%H%x1f%at%x1f%aN%x1f%s';
  const out = await git([
    'log',
    '-z',
    `-n${limit}`,
    shape,
    '--end-of-options',
    'HEAD',
    '--',
    ...paths,
  ]);
  return out
    .toString('utf8')
    .split('\0')
    .filter((line) => line.length > 0)
    .map((line) => {
      const [commit = '', seconds = '', author = '', subject = ''] = line.split('\x1f');
      return { commit, atMs: Number(seconds) * 1_000, author, subject };
    });
}

/**
 * One agent between two commits; `fields` are the Card's top-level fields that differ. `unsound`: the file
 * differs and is no sound Card on one side, so that its fields can't be told; `problems` say why.
 */
export interface CardDifference {
  readonly agentId: string;
  readonly kind: 'added' | 'removed' | 'changed' | 'unsound';
  readonly fields: readonly FieldDifference[];
  readonly isPersonaChanged: boolean;
  readonly problems: readonly CardProblem[];
}

/** A field with its value on either side as JSON; undefined where it has none. */
export interface FieldDifference {
  readonly field: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/**
 * What changed between two commits (or names of commits), by agent.
 * Rejects with MeshError NOT_FOUND for a name that is no commit.
 */
export async function diffCards(
  git: Git,
  from: string,
  to: string,
): Promise<readonly CardDifference[]> {
  const [before, after] = [await treeAt(git, from), await treeAt(git, to)];
  const [old, fresh] = [readingsIn(before), readingsIn(after)];
  const ids = [...new Set([...old.keys(), ...fresh.keys()])].sort();
  return ids.flatMap((agentId) => {
    const [one, other] = [old.get(agentId), fresh.get(agentId)];
    if (isUnsound(one) || isUnsound(other)) return unsound(agentId, before, after, [one, other]);
    const fields = fieldsBetween(one?.card, other?.card);
    const isPersonaChanged = personaIn(before, one?.card) !== personaIn(after, other?.card);
    const kind = one === undefined ? 'added' : other === undefined ? 'removed' : 'changed';
    return fields.length === 0 && !isPersonaChanged
      ? []
      : [{ agentId, kind, fields, isPersonaChanged, problems: [] }];
  });
}

const isUnsound = (reading: CardReading | undefined): boolean =>
  reading !== undefined && reading.card === undefined;

function unsound(
  agentId: string,
  before: CommittedTree,
  after: CommittedTree,
  [one, other]: readonly [CardReading | undefined, CardReading | undefined],
): readonly CardDifference[] {
  const bytesIn = ({ files }: CommittedTree) => files.get(pathOf(agentId))?.toString('latin1');
  if (bytesIn(before) === bytesIn(after)) return [];
  const { problems } = (isUnsound(other) ? other : one) ?? { problems: [] };
  return [{ agentId, kind: 'unsound', fields: [], isPersonaChanged: false, problems }];
}

async function treeAt(git: Git, name: string): Promise<CommittedTree> {
  const commit = await commitOf(git, name);
  if (commit === undefined)
    throw new MeshError(
      'NOT_FOUND',
      `"${name}" is no commit of this home. Name a commit or branch.`,
    );
  return readCommittedTree(git, commit);
}

const pathOf = (agentId: string): string => `cards/${agentId}.card.yaml`;

/** By the file's name: what is no sound Card may claim any id, or none. */
function readingsIn({ files }: CommittedTree): ReadonlyMap<string, CardReading> {
  const readings = [...files].flatMap(([path, bytes]) => {
    const named = /^cards\/(.+)\.card\.yaml$/.exec(path)?.[1];
    if (named === undefined) return [];
    return [[named, readCard(path, bytes, Number.MAX_SAFE_INTEGER)] as const];
  });
  return new Map<string, CardReading>(readings);
}

function personaIn({ files }: CommittedTree, card: Card | undefined): string | undefined {
  return card?.persona === undefined ? undefined : files.get(card.persona)?.toString('utf8');
}

function fieldsBetween(one: Card | undefined, other: Card | undefined): readonly FieldDifference[] {
  const [before, after] = [jsonByField(one), jsonByField(other)];
  const fields = [...new Set([...before.keys(), ...after.keys()])].sort();
  return fields
    .map((field) => ({ field, before: before.get(field), after: after.get(field) }))
    .filter((difference) => difference.before !== difference.after);
}

const jsonByField = (card: Card | undefined): ReadonlyMap<string, string> =>
  new Map(Object.entries(card ?? {}).map(([field, value]) => [field, JSON.stringify(value)]));

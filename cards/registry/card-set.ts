import { AgentId } from '../../fabric/domain/ids.ts';
import type { AgentPolicy } from '../../fabric/ports/directory.ts';
import type { Card } from '../schema/card.ts';
import { type CardProblem, isError } from '../schema/card-problem.ts';
import { lintSet } from '../schema/lint-set.ts';
import { readCard } from '../schema/read-card.ts';
import { policyOf } from './agent-policy.ts';
import type { CommittedTree } from './committed-tree.ts';
import { commandIn, lintPrograms, type ProgramFolders } from './lint-programs.ts';

/** All Cards of one commit: sound, checked against each other, swapped as a whole. */
export interface CardSet {
  readonly commit: string;
  readonly cards: ReadonlyMap<string, Card>;
  readonly policies: ReadonlyMap<string, AgentPolicy>;
  /** Things a person should look at, none of which keeps the set from being used. */
  readonly warnings: readonly CardProblem[];
  /** The Markdown of an agent's persona; undefined without one. */
  persona(agentId: string): string | undefined;
}

export interface CardSetFacts {
  readonly nowMs: number;
  readonly defaultHuman: string;
  readonly folders: ProgramFolders;
}

export type CardSetReading =
  | { readonly ok: true; readonly set: CardSet }
  | { readonly ok: false; readonly problems: readonly CardProblem[] };

/** Reads and checks a commit's Cards as one set; one bad Card refuses the set. Never throws. */
export function readCardSet(tree: CommittedTree, facts: CardSetFacts): CardSetReading {
  const files = [...tree.files].filter(([path]) => path.endsWith('.card.yaml'));
  const readings = files.map(([path, bytes]) => readCard(path, bytes, facts.nowMs));
  const personas = new Set([...tree.files.keys()].filter((path) => path.endsWith('.md')));
  const problems = [
    ...(readings.length === 0 ? [noCards] : []),
    ...readings.flatMap((reading) => reading.problems),
    ...lintSet(readings, { personas, defaultHuman: facts.defaultHuman }),
    ...lintPrograms(readings, facts.folders),
    ...tree.ignored.map(toWarning),
  ];
  if (problems.some(isError)) return { ok: false, problems };
  const cards = readings.flatMap(({ card }) => (card === undefined ? [] : [placed(card, facts)]));
  return { ok: true, set: toSet(tree, cards, problems, AgentId.parse(facts.defaultHuman)) };
}

const noCards: CardProblem = {
  severity: 'error',
  file: 'cards/',
  line: 1,
  column: 1,
  path: '',
  code: 'NO_CARDS',
  message: 'The commit holds no Card.',
  fix: 'Commit at least one cards/<id>.card.yaml.',
};

function toWarning({ path, reason }: CommittedTree['ignored'][number]): CardProblem {
  const message = `The file is not read: ${reason}.`;
  const words = { code: 'IGNORED_FILE', message, fix: 'Rename it or move it elsewhere.' };
  return { severity: 'warning', file: path, line: 1, column: 1, path: '', ...words };
}

function placed(card: Card, { folders }: CardSetFacts): Card {
  if (card.runner === undefined) return card;
  const command = commandIn(card.runner, folders);
  return { ...card, runner: { ...card.runner, command } };
}

function toSet(
  { commit, files }: CommittedTree,
  cards: readonly Card[],
  warnings: readonly CardProblem[],
  defaultHuman: AgentId,
): CardSet {
  const byId = new Map<string, Card>(cards.map((card) => [card.id, card]));
  const policies = cards.map((card) => [card.id, policyOf(card, commit, defaultHuman)] as const);
  return {
    commit,
    cards: byId,
    policies: new Map<string, AgentPolicy>(policies),
    warnings,
    persona: (agentId) => {
      const path = byId.get(agentId)?.persona;
      return path === undefined ? undefined : files.get(path)?.toString('utf8');
    },
  };
}

import { stringify } from 'yaml';
import { counted } from '../../fabric/domain/counted.ts';
import type { CardDifference, CardRevision } from '../../cards/registry/card-history.ts';
import type { CardRow, InPlace, ShownCard } from '../../cards/registry/card-operations.ts';
import { isError, toProblemLine, type CardProblem } from '../../cards/schema/card-problem.ts';
import { table } from './columns.ts';
import { oneLine, printable } from './printable.ts';
import { relative } from './relative-time.ts';

/** Agents as people list them. */
export function cardTable(rows: readonly CardRow[], most?: number): string {
  const cells = rows.map((row) => [
    row.id,
    row.runtime,
    row.trust,
    row.cost,
    row.tier ?? '',
    row.queue,
    row.canCall ? 'yes' : 'no key',
    oneLine(row.skills.join(', '), 50),
  ]);
  return table(
    ['agent', 'runtime', 'trust', 'cost', 'tier', 'queue', 'can call', 'skills'],
    cells,
    'No Cards. Make a home with `mesh init`, or a Card with `mesh cards new`.',
    most,
  );
}

/** A Card with its defaults filled in, then its persona. */
export function cardPage({ card, persona, lastChange }: ShownCard, nowMs: number): string {
  const changed = lastChange
    ? `# ${lastChange.commit.slice(0, 12)}, ${relative(lastChange.atMs, nowMs)} by ${oneLine(lastChange.author)}: ${oneLine(lastChange.subject)}`
    : '# never committed';
  const parts = [changed, printable(stringify(card)).trimEnd()];
  return [...parts, ...(persona === undefined ? [] : ['---', printable(persona).trimEnd()])].join(
    '\n',
  );
}

export function historyTable(revisions: readonly CardRevision[], nowMs: number): string {
  const rows = revisions.map(({ commit, atMs, author, subject }) => [
    commit.slice(0, 12),
    relative(atMs, nowMs),
    oneLine(author, 30),
    oneLine(subject, 80),
  ]);
  return table(['commit', 'when', 'who', 'what'], rows, 'No commit touched that agent.');
}

/** One line an agent, below it each field that differs. */
export function differenceLines(differences: readonly CardDifference[]): string {
  if (differences.length === 0) return 'No Card differs.';
  return differences
    .map(({ agentId, kind, fields, isPersonaChanged, problems }) => {
      if (kind === 'unsound') {
        const told = problems.filter(isError).map((problem) => printable(toProblemLine(problem)));
        return [`${agentId}: its Card differs and is not sound on one side`, ...told].join('\n  ');
      }
      const head = `${agentId}: ${kind}${isPersonaChanged ? ', its persona too' : ''}`;
      if (kind !== 'changed') return head;
      const lines = fields.map(
        ({ field, before, after }) =>
          `  ${field}: ${oneLine(before ?? 'absent', 100)} → ${oneLine(after ?? 'absent', 100)}`,
      );
      return [head, ...lines].join('\n');
    })
    .join('\n');
}

/** Each problem on its line, and how many there are. */
export function problemLines(problems: readonly CardProblem[]): string {
  const errors = problems.filter(isError).length;
  const sum =
    problems.length === 0
      ? 'All Cards are sound.'
      : `${counted(errors, 'error')}, ${counted(problems.length - errors, 'warning')}.`;
  return [...problems.map((problem) => printable(toProblemLine(problem))), sum].join('\n');
}

/** Why another set is shown than the files as they lie there. */
export function inPlaceNote({ commit, problems }: InPlace): string {
  const errors = problems.filter(isError);
  const words = `The files as they lie there have ${counted(errors.length, 'error')}; this is commit ${commit.slice(0, 12)}.`;
  return [...errors.map((problem) => printable(toProblemLine(problem))), words].join('\n');
}

import { Card } from './card.ts';
import type { CardProblem, Finding } from './card-problem.ts';
import { isError } from './card-problem.ts';
import { lintCard } from './lint-card.ts';
import { toFindings } from './schema-findings.ts';
import { readYaml, type YamlSource } from './yaml-source.ts';

/** A Card file as read: the Card if it is sound, and all problems in any case. */
export interface CardReading {
  readonly file: string;
  readonly card?: Card;
  /** The id the file claims, also of a Card with other problems, so that references still resolve. */
  readonly claimedId?: string;
  readonly problems: readonly CardProblem[];
  /** Gives a finding of a later rule its place in this file. */
  readonly place: (finding: Finding) => CardProblem;
}

/**
 * Reads one Card file and reports everything wrong with it at once.
 * `nowMs`: ms since the epoch, for instants that must lie in the past.
 */
export function readCard(file: string, bytes: Uint8Array, nowMs: number): CardReading {
  const yaml = readYaml(file, bytes);
  if (!yaml.ok) return { file, problems: yaml.problems, place: atTop(file) };
  const { source } = yaml;
  const place = source.place;
  const claimed = claimedIdOf(source.value);
  const parsed = Card.safeParse(source.value);
  const found = parsed.success
    ? lintCard(parsed.data, nowMs)
    : [...toFindings(parsed.error.issues), ...lintRest(source, parsed.error.issues, nowMs)];
  const problems = [...found, ...misnamed(file, claimed)]
    .map(place)
    .sort((one, other) => one.line - other.line || one.column - other.column);
  return {
    file,
    ...(parsed.success && !problems.some(isError) && { card: parsed.data }),
    ...(claimed !== undefined && { claimedId: claimed }),
    problems,
    place,
  };
}

const atTop =
  (file: string) =>
  (finding: Finding): CardProblem => ({ ...finding, file, line: 1, column: 1, path: '' });

function claimedIdOf(value: unknown): string | undefined {
  const id = typeof value === 'object' && value !== null && 'id' in value ? value.id : undefined;
  return typeof id === 'string' ? id : undefined;
}

/** Rules that miss a block which may only have been refused. */
const needsWhole = new Set(['RUNTIME_BLOCK', 'BACKBONE', 'NO_PERSONA']);

/** Stands in for a refused field that no rule looks at. */
const neutral = {
  id: 'unnamed',
  name: '-',
  description: '-',
  version: '0.0.0',
  skills: [{ id: 'none', name: '-', description: '-', tags: ['-'] }],
};

/** The rules again on what is left without the refused fields, so that one run tells everything. */
function lintRest(
  { value }: YamlSource,
  issues: readonly { readonly path: readonly PropertyKey[]; readonly keys?: readonly string[] }[],
  nowMs: number,
): readonly Finding[] {
  if (typeof value !== 'object' || value === null) return [];
  const refused = new Set(issues.flatMap(({ path, keys = [] }) => [path[0] ?? keys, keys].flat()));
  const rest = Object.fromEntries(Object.entries(value).filter(([key]) => !refused.has(key)));
  const parsed = Card.safeParse({ ...neutral, ...rest });
  if (!parsed.success) return [];
  return lintCard(parsed.data, nowMs).filter(
    ({ path, code }) => !refused.has(String(path[0])) && !needsWhole.has(code),
  );
}

function misnamed(file: string, claimedId: string | undefined): readonly Finding[] {
  const named = /([^/]+)\.card\.yaml$/.exec(file)?.[1];
  if (claimedId === undefined || named === undefined || named === claimedId) return [];
  return [
    {
      severity: 'error',
      path: ['id'],
      code: 'FILE_NAME',
      message: `The file ${file} holds the Card of "${claimedId}".`,
      fix: `Name the file ${claimedId}.card.yaml or set id: ${named}.`,
    },
  ];
}

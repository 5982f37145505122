import { TrustClass } from '../../fabric/domain/trust.ts';
import type { Card } from './card.ts';
import type { CardProblem, Finding, PathStep } from './card-problem.ts';
import { fault } from './finding.ts';
import type { CardReading } from './read-card.ts';

/** What the rules across Cards look at besides the Cards. */
export interface SetFacts {
  /** Paths of the home's persona files: `personas/adolf.md`. */
  readonly personas: ReadonlySet<string>;
  /** Who gets questions where a Card names nobody; from `mesh.yaml`. */
  readonly defaultHuman: string;
}

interface Placed {
  readonly card: Card;
  readonly reading: CardReading;
}

/** The rules across all Cards of a home. Cards with problems of their own count as known, not as checked. */
export function lintSet(readings: readonly CardReading[], facts: SetFacts): readonly CardProblem[] {
  const placed = readings.flatMap((reading) =>
    reading.card === undefined ? [] : [{ card: reading.card, reading }],
  );
  const known = new Map<string, Card | undefined>();
  for (const { claimedId, card } of readings) if (claimedId) known.set(claimedId, card);
  return [
    ...placed.flatMap(({ card, reading }) =>
      [
        ...lintNames(card, known),
        ...lintPersonaFile(card, facts),
        ...lintAnswerer(card, known),
      ].map((finding) => reading.place(finding)),
    ),
    ...lintDefaultHuman(placed, known, facts),
    ...clashes(placed, 'DUPLICATE_ID', ['id'], ({ id }) => id),
    ...clashes(placed, 'DUPLICATE_PORT', ['port'], ({ port }) => port),
    ...clashes(placed, 'DUPLICATE_QUEUE', ['queue', 'project'], ({ queue }) => queue.project),
    ...lintPools(placed),
    ...lintScopes(placed),
  ];
}

type Known = ReadonlyMap<string, Card | undefined>;

function lintNames(card: Card, known: Known): readonly Finding[] {
  const unknown = (path: readonly PathStep[], name: string) => {
    const message = `No Card of this home is called "${name}".`;
    return fault('UNKNOWN_AGENT', path, message, 'Correct the name or add that Card.');
  };
  const check = (
    names: readonly string[],
    path: readonly PathStep[],
    isFree: (n: string) => boolean,
  ) =>
    names.flatMap((name, index) =>
      known.has(name) || isFree(name) ? [] : [unknown([...path, index], name)],
    );
  return [
    ...check(card.mayCall, ['mayCall'], (name) => name === '*'),
    ...check(card.admit, ['admit'], isClassOrPrincipal),
    ...lintOptIn(card, known),
    ...card.schedules.flatMap(({ target }, index) =>
      target === undefined || known.has(target)
        ? []
        : [unknown(['schedules', index, 'target'], target)],
    ),
  ];
}

const isClassOrPrincipal = (name: string): boolean =>
  TrustClass.safeParse(name).success || /^principal:.{1,64}$/.test(name);

function lintOptIn(card: Card, known: Known): readonly Finding[] {
  return card.optIn.metered.flatMap((name, index) => {
    const granted = known.get(name);
    if (granted?.cost === 'metered' || (known.has(name) && granted === undefined)) return [];
    const message = `optIn.metered names "${name}", which is no metered Card of this home.`;
    return [fault('UNKNOWN_AGENT', ['optIn', 'metered', index], message, 'Correct the name.')];
  });
}

function lintPersonaFile({ persona }: Card, { personas }: SetFacts): readonly Finding[] {
  if (persona === undefined || personas.has(persona)) return [];
  const message = `The persona file ${persona} is not in the commit.`;
  return [fault('PERSONA_FILE', ['persona'], message, 'Add and commit it.')];
}

function lintAnswerer({ responsibleHuman }: Card, known: Known): readonly Finding[] {
  if (responsibleHuman === undefined || mayBeHuman(responsibleHuman, known)) return [];
  const message = `responsibleHuman is "${responsibleHuman}", which is no Card with runtime human.`;
  return [fault('UNKNOWN_HUMAN', ['responsibleHuman'], message, 'Name a human of this home.')];
}

/** Also of a Card with problems of its own: what it will be is not known yet. */
const mayBeHuman = (name: string, known: Known): boolean =>
  known.get(name)?.runtime === 'human' || (known.has(name) && known.get(name) === undefined);

/** One problem, and of the file that it is in, however many Cards leave their human to the settings. */
function lintDefaultHuman(
  placed: readonly Placed[],
  known: Known,
  { defaultHuman }: SetFacts,
): readonly CardProblem[] {
  const isNeeded = placed.some(({ card }) => card.responsibleHuman === undefined);
  if (!isNeeded || mayBeHuman(defaultHuman, known)) return [];
  const humans = placed.flatMap(({ card }) => (card.runtime === 'human' ? [card.id] : []));
  const message = `defaultHuman is "${defaultHuman}", which is no Card with runtime human.`;
  const fix =
    humans.length === 0
      ? 'Add a Card with runtime human and name it.'
      : `Name a human of this home: ${humans.join(', ')}.`;
  const where = { file: 'mesh.yaml', line: 1, column: 1, path: 'defaultHuman' } as const;
  return [{ severity: 'error', ...where, code: 'UNKNOWN_HUMAN', message, fix }];
}

/** Two Cards that claim one thing: each but the first is told, and by whom it is taken. */
function clashes(
  placed: readonly Placed[],
  code: string,
  path: readonly PathStep[],
  valueOf: (card: Card) => string | number | undefined,
): readonly CardProblem[] {
  const owners = new Map<string | number, string>();
  return placed.flatMap(({ card, reading }) => {
    const value = valueOf(card);
    if (value === undefined) return [];
    const owner = owners.get(value);
    if (owner === undefined) {
      owners.set(value, reading.file);
      return [];
    }
    const message = `${path.join('.')} "${value}" is taken by ${owner}.`;
    return [reading.place(fault(code, path, message, 'Choose another value.'))];
  });
}

/** One gateway group with two cost classes would let a free call become a paid one. */
function lintPools(placed: readonly Placed[]): readonly CardProblem[] {
  const costs = new Map<string, string>();
  return placed.flatMap(({ card: { model, cost }, reading }) => {
    if (model === undefined) return [];
    const first = costs.get(model.gateway) ?? cost;
    costs.set(model.gateway, first);
    if (first === cost) return [];
    const message = `The pool "${model.gateway}" has two cost classes, ${first} and ${cost}.`;
    const fix = 'Give the two their own gateway names.';
    return [reading.place(fault('POOL_COST', ['cost'], message, fix))];
  });
}

/** Cards that share a subscription must tell the same quota, or the ledger counts two. */
function lintScopes(placed: readonly Placed[]): readonly CardProblem[] {
  const quotas = new Map<string, string>();
  return placed.flatMap(({ card: { model }, reading }) =>
    (model?.windows ?? []).flatMap(({ scope, id, ...window }, index) => {
      const key = `${scope} ${id}`;
      const quota = JSON.stringify([window.unit, window.cap, window.lengthMs, window.kind]);
      const first = quotas.get(key) ?? quota;
      quotas.set(key, first);
      if (first === quota) return [];
      const message = `Window "${id}" of scope "${scope}" differs from the one in another Card.`;
      const fix = 'Make cap, length, unit and kind the same, or use another scope.';
      return [reading.place(fault('QUOTA_SCOPE', ['model', 'windows', index], message, fix))];
    }),
  );
}

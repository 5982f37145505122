import { stringify } from 'yaml';

/** A sound Card as plain data; `change` replaces or, with undefined, removes top-level fields. */
export function cardFields(
  change: Readonly<Record<string, unknown>> = {},
): Record<string, unknown> {
  const fields: Record<string, unknown> = { ...sound, ...change };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

export function cardBytes(change: Readonly<Record<string, unknown>> = {}): Uint8Array {
  return new TextEncoder().encode(stringify(cardFields(change), { aliasDuplicateObjects: false }));
}

const sound = {
  id: 'adolf',
  name: 'Adolf',
  description: 'Looks for weak spots.',
  version: '1.0.0',
  skills: [{ id: 'audit', name: 'Audit', description: 'Audits a plan.', tags: ['audit'] }],
  runtime: 'model',
  persona: 'personas/adolf.md',
  needs: { tier: 'large' },
  trust: 'trusted',
  cost: 'free-local',
  effects: 'none',
};

export const operatorFields = cardFields({
  id: 'operator',
  name: 'Operator',
  runtime: 'human',
  trust: 'human',
  persona: undefined,
  needs: undefined,
  availability: { hours: { from: '08:00', to: '22:00', zone: 'UTC' } },
});

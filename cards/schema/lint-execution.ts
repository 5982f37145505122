import type { Card } from './card.ts';
import type { Finding } from './card-problem.ts';
import type { Execution } from './execution.ts';
import { fault, repeated, warning } from './finding.ts';

const placeholder =
  /^(exact[-_ ]?(model[-_ ]?)?id|your[-_ ].*|[<{[].*|todo|tbd|x{3,}|change-?me|placeholder.*|example.*|sample.*|dummy.*|model([-_ ]?(id|name))?|foo|bar|\.{3}|…)$/i;

/** A name that stands for a model nobody has proven (rule S0-004). */
export const isPlaceholder = (modelId: string): boolean => placeholder.test(modelId);

/** The verified inventory of an executor, and a model agent's model name. */
export function lintExecution(card: Card, nowMs: number): readonly Finding[] {
  const gateway = card.model?.gateway;
  return [
    ...(gateway !== undefined && isPlaceholder(gateway)
      ? [stands(['model', 'gateway'], gateway)]
      : []),
    ...(card.execution === undefined ? [] : lintInventory(card.execution, nowMs)),
  ];
}

function stands(path: readonly (string | number)[], modelId: string): Finding {
  const message = `"${modelId}" is a placeholder, not a model that was seen to run.`;
  return fault('PLACEHOLDER_MODEL', path, message, 'Write the exact id of the runtime.');
}

function lintInventory(execution: Execution, nowMs: number): readonly Finding[] {
  const { models } = execution;
  const ids = models.map(({ id }) => id);
  return [
    ...repeated(ids, (index) => ['execution', 'models', index, 'id'], 'DUPLICATE_MODEL'),
    ...models.flatMap(({ efforts }, model) => {
      const pathOf = (index: number) => ['execution', 'models', model, 'efforts', index];
      return repeated(efforts, pathOf, 'DUPLICATE_EFFORT');
    }),
    ...models.flatMap(({ id }, index) =>
      isPlaceholder(id) ? [stands(['execution', 'models', index, 'id'], id)] : [],
    ),
    ...lintDefaults(execution),
    ...lintVerified(execution, nowMs),
  ];
}

function lintDefaults({ models, defaults }: Execution): readonly Finding[] {
  const model = models.find(({ id }) => id === defaults.model);
  if (defaults.model !== null && model === undefined) {
    const message = `The default model "${defaults.model}" is not in the inventory.`;
    const fix = 'Add it to "models" or choose a listed one.';
    return [fault('DEFAULT_NOT_LISTED', ['execution', 'defaults', 'model'], message, fix)];
  }
  const efforts = model?.efforts ?? models.flatMap((listed) => listed.efforts);
  if (defaults.effort === null || efforts.includes(defaults.effort)) return [];
  const whose = model === undefined ? 'any listed model' : `model "${model.id}"`;
  const message = `The default effort "${defaults.effort}" is not one of ${whose}.`;
  const fix = 'Choose a listed effort.';
  return [fault('DEFAULT_NOT_LISTED', ['execution', 'defaults', 'effort'], message, fix)];
}

function lintVerified({ verification, models }: Execution, nowMs: number): readonly Finding[] {
  if (verification === undefined) {
    if (models.length === 0) return [];
    const message = 'Without "verification" no model of this inventory can be selected.';
    const fix = 'Probe the executor and add source, verifiedAt and executorVersion.';
    return [warning('NOT_VERIFIED', ['execution', 'models'], message, fix)];
  }
  if (verification.verifiedAtMs <= nowMs) return [];
  const message = 'The inventory was verified in the future.';
  const path = ['execution', 'verification', 'verifiedAt'];
  return [fault('VERIFIED_IN_FUTURE', path, message, 'Write when the probe was run.')];
}

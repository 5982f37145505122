import type { Card } from './card.ts';
import type { Finding } from './card-problem.ts';
import { fault, repeated } from './finding.ts';

/** Nothing metered without a grant, and quotas that can be kept (`DESIGN.md` 9). */
export function lintMoney(card: Card): readonly Finding[] {
  return [...lintMetered(card), ...lintGroup(card), ...lintWindows(card)];
}

function lintMetered({ id, runtime, cost, needs, optIn }: Card): readonly Finding[] {
  const fix = 'Name the metered Cards it may use in optIn.metered, or leave "metered" out.';
  const asks = needs?.cost.indexOf('metered') ?? -1;
  if (asks >= 0 && optIn.metered.length === 0) {
    const message = 'The needs allow a metered model, but optIn.metered names none.';
    return [fault('METERED_WITHOUT_OPT_IN', ['needs', 'cost', asks], message, fix)];
  }
  if (cost !== 'metered' || runtime === 'model' || optIn.metered.includes(id)) return [];
  const message = `This ${runtime} spends money by itself, and its own optIn.metered does not name it.`;
  return [fault('METERED_WITHOUT_OPT_IN', ['cost'], message, `Add optIn: {metered: [${id}]}.`)];
}

/** Metered groups live under `paid/` at the gateway, and nothing else does. */
function lintGroup({ model, cost }: Card): readonly Finding[] {
  if (model === undefined || model.gateway.startsWith('paid/') === (cost === 'metered')) return [];
  const message = `Model "${model.gateway}" has cost ${cost}; exactly the metered ones are under paid/.`;
  return [fault('METERED_GROUP', ['model', 'gateway'], message, 'Correct the name or the cost.')];
}

function lintWindows({ model, cost }: Card): readonly Finding[] {
  const windows = model?.windows ?? [];
  const pathOf = (index: number) => ['model', 'windows', index, 'id'];
  const ids = windows.map(({ id }) => id);
  const found = windows.flatMap(({ kind, zone }, index) => {
    if (kind !== 'calendar' || zone !== undefined) return [];
    const message = 'A calendar window starts at midnight of a zone, and none is named.';
    return [fault('WINDOW_ZONE', ['model', 'windows', index], message, 'Add zone.')];
  });
  if (windows.length === 0 || cost === 'flat-quota')
    return [...repeated(ids, pathOf, 'DUPLICATE_WINDOW'), ...found];
  const message = `Quota windows belong to cost flat-quota; this Card's is ${cost}.`;
  return [fault('WINDOW_COST', ['model', 'windows'], message, 'Correct the cost.'), ...found];
}

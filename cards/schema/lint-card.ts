import type { Card, Runtime } from './card.ts';
import type { Finding } from './card-problem.ts';
import { fault, repeated, warning } from './finding.ts';
import { lintExecution } from './lint-execution.ts';
import { lintMoney } from './lint-money.ts';
import { lintTrust } from './lint-trust.ts';

/**
 * The rules of one Card that its shape alone can't hold; the sources are `DESIGN.md` 7 to 10.
 * `nowMs`: ms since the epoch.
 */
export function lintCard(card: Card, nowMs: number): readonly Finding[] {
  return [
    ...lintTrust(card),
    ...lintBlocks(card),
    ...lintExecution(card, nowMs),
    ...lintMoney(card),
    ...lintBeat(card),
    ...lintScript(card),
    ...lintLists(card),
    ...lintSchedules(card),
    ...lintAsleep(card),
  ];
}

const blockOf = {
  runner: 'runner',
  rehearsal: 'rehearsal',
  executor: 'execution',
} as const satisfies Partial<Record<Runtime, keyof Card>>;

function lintBlocks(card: Card): readonly Finding[] {
  const found = Object.entries(blockOf).flatMap(([runtime, block]) => {
    if (card.runtime === runtime && card[block] === undefined) {
      const message = `runtime ${runtime} works by its "${block}" block, and there is none.`;
      return [fault('RUNTIME_BLOCK', ['runtime'], message, `Add "${block}".`)];
    }
    if (card.runtime === runtime || card[block] === undefined) return [];
    const message = `"${block}" belongs to runtime ${runtime}; this Card's is ${card.runtime}.`;
    return [fault('RUNTIME_BLOCK', [block], message, 'Remove it or change the runtime.')];
  });
  return [...found, ...lintBackbone(card)];
}

function lintBackbone({ runtime, model, needs, tier }: Card): readonly Finding[] {
  if (model !== undefined && needs !== undefined) {
    const message = 'A Card has a fixed model or needs that choose one, not both.';
    return [fault('BACKBONE', ['needs'], message, 'Remove "model" or "needs".')];
  }
  if (runtime === 'model' && model === undefined && needs === undefined) {
    const message = 'runtime model has neither a fixed model nor needs that choose one.';
    return [fault('BACKBONE', ['runtime'], message, 'Add "needs" (a persona) or "model".')];
  }
  if (model === undefined) return [];
  if (runtime !== 'model') {
    const message = `"model" belongs to model agents; this Card's runtime is ${runtime}.`;
    return [fault('RUNTIME_BLOCK', ['model'], message, 'Use "needs" instead.')];
  }
  if (tier !== undefined) return [];
  const message = 'A model agent without a tier is never chosen.';
  return [fault('MISSING', ['tier'], message, 'Add tier: small, medium, large or reasoning.')];
}

/** A heartbeat over a third of its lease lets one lost beat end a live run (`STYLE.md`, Configuration). */
function lintBeat({ queue }: Card): readonly Finding[] {
  if (queue.heartbeatMs * 3 <= queue.leaseMs) return [];
  const message = `The heartbeat of ${queue.heartbeatMs} ms is over a third of the lease of ${queue.leaseMs} ms.`;
  const fix = `Make it at most ${Math.floor(queue.leaseMs / 3)}ms.`;
  return [fault('HEARTBEAT', ['queue', 'heartbeat'], message, fix)];
}

function lintScript({ rehearsal }: Card): readonly Finding[] {
  const lines = rehearsal?.script ?? [];
  return lines.flatMap((line, index) => {
    if ((line.answer === undefined) !== (line.ask === undefined)) return [];
    const message = 'A scripted line says either "answer" or "ask".';
    return [fault('SCRIPT_LINE', ['rehearsal', 'script', index], message, 'Keep one of the two.')];
  });
}

function lintLists(card: Card): readonly Finding[] {
  const skills = card.skills.map(({ id }) => id);
  const schedules = card.schedules.map(({ id }) => id);
  const names = ['tools', 'mayCall', 'admit', 'secrets', 'env'] as const;
  return [
    ...repeated(skills, (index) => ['skills', index, 'id'], 'DUPLICATE_SKILL'),
    ...repeated(schedules, (index) => ['schedules', index, 'id'], 'DUPLICATE_SCHEDULE'),
    ...names.flatMap((name) => repeated(card[name], (index) => [name, index], 'DUPLICATE_ENTRY')),
    ...lintPersona(card),
  ];
}

function lintSchedules({ schedules }: Card): readonly Finding[] {
  if (schedules.length === 0) return [];
  const message = 'Schedules are not served by this build: nothing is submitted by them.';
  const fix = 'Submit from outside, such as by cron with `mesh submit`, until they are.';
  return [warning('NOT_SERVED', ['schedules'], message, fix)];
}

function lintAsleep({ availability }: Card): readonly Finding[] {
  if (!availability.onDemand) return [];
  const message = 'Nothing wakes an agent in this build: its tasks wait for ever.';
  const fix = 'Say availability: always, or its hours.';
  return [warning('NOT_SERVED', ['availability'], message, fix)];
}

function lintPersona({ runtime, needs, persona }: Card): readonly Finding[] {
  if (runtime !== 'model' || needs === undefined || persona !== undefined) return [];
  const message = 'A persona without its text answers like a bare model.';
  return [warning('NO_PERSONA', ['needs'], message, 'Add persona: personas/<id>.md.')];
}

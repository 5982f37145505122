import { modelRuntime, type ModelRuntimeDeps } from '../../agents/runtimes/model.ts';
import { Card } from '../../cards/schema/card.ts';
import type { TaskEvent } from '../../fabric/domain/events.ts';
import { fold } from '../../fabric/domain/fold.ts';
import type { TaskState } from '../../fabric/domain/state.ts';
import type { RunEnd } from '../../fabric/ports/run-task.ts';
import type { ChatMessage } from '../../router/gateway/gateway-client.ts';
import {
  builtAtMs,
  claimedBy,
  settledBy,
  submittedEvent,
  type TaskOverrides,
} from './board-builders.ts';
import { cardFields } from './card-yaml.ts';
import { manualClock } from './manual-clock.ts';
import { modelDesk, type ScriptedGateway } from './model-desk.ts';
import { recordedRun, runningState } from './task-run.ts';

/** A model agent that every persona here may run on. */
export const large = Card.parse(
  cardFields({
    ...{ id: 'kimi', name: 'Kimi', persona: undefined, needs: undefined, tier: 'large' },
    model: { gateway: 'kimi', contextTokens: 8_000, caps: ['tools'] },
  }),
);
/** Adolf's Card with fields changed. */
export const adolf = (change: Record<string, unknown> = {}): Card => Card.parse(cardFields(change));
/** What a Card says to call others. */
export const helpers = { tools: ['submit', 'await', 'ask'], mayCall: ['researcher'] };
/** A run's signal that nothing stops. */
export const never = new AbortController().signal;

interface Work {
  readonly card?: Card;
  readonly state?: TaskState;
  readonly states?: readonly TaskState[];
  readonly deps?: Partial<ModelRuntimeDeps>;
  readonly signal?: AbortSignal;
}

/** One run of a persona, its waits over at once. */
export async function work(
  gateway: ScriptedGateway,
  { card = adolf(), state, ...rest }: Work = {},
) {
  const { deps, states = [], signal = never } = rest;
  const clock = manualClock(builtAtMs + 60_000);
  const desk = modelDesk({ cards: [card, large], gateway, clock, states, ...(deps && { deps }) });
  const run = recordedRun(state ?? runningState({ body: 'Is this sound?' }));
  const ending = modelRuntime(card, desk.deps)(run, signal);
  let end: RunEnd | undefined;
  void ending.then((how) => (end = how));
  // Pauses between tries are the clock's.
  for (let step = 0; end === undefined && step < 50; step += 1) await clock.advance(5_000);
  return { end: await ending, run, log: desk.log };
}

/** All that a call told the model. */
export const promptOf = ({ requests }: ScriptedGateway, call = 0): string =>
  (requests[call]?.messages ?? [])
    .map(({ role, content }) => `${role}: ${content}`)
    .join('\n---\n');

/** The texts of one role. */
export const contents = (messages: readonly ChatMessage[] = [], role: string) =>
  messages.filter((message) => message.role === role).map(({ content }) => content);

/** A finished task of Adolf's in one context. */
export function finished(task: TaskOverrides, answer: string, atMs = builtAtMs): TaskState {
  const submitted = submittedEvent(task, { atMs });
  const events: TaskEvent[] = [
    submitted,
    claimedBy('adolf', { attempt: 1 }),
    settledBy('adolf', 2, { summary: answer, artifacts: [] }),
  ];
  return fold(events)!;
}

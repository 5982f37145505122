import type { ModelRuntimeDeps } from '../../agents/runtimes/model.ts';
import type { Card } from '../../cards/schema/card.ts';
import type { TaskState } from '../../fabric/domain/state.ts';
import type { Clock } from '../../fabric/ports/clock.ts';
import { healthBook } from '../../router/availability/health-book.ts';
import { routerAvailability } from '../../router/availability/router-availability.ts';
import { candidatesFrom } from '../../router/candidates-from-cards.ts';
import type {
  CallFailure,
  ChatAnswer,
  ChatRequest,
  GatewayClient,
} from '../../router/gateway/gateway-client.ts';
import type { QuotaLedger } from '../../router/ledger/quota-ledger.ts';
import { recordingLog } from './recording-log.ts';
import { seededRandom } from './seeded-random.ts';

export type Reply = Partial<Omit<ChatAnswer, 'ok'>> | CallFailure;

export interface ScriptedGateway extends GatewayClient {
  readonly requests: ChatRequest[];
}

/** Answers call after call as scripted, the last for ever; texts are streamed word by word. */
export function scriptedGateway(
  ...replies: readonly (Reply | ((request: ChatRequest) => Reply))[]
): ScriptedGateway {
  const requests: ChatRequest[] = [];
  const next = (request: ChatRequest): ChatAnswer | CallFailure => {
    const scripted = replies[Math.min(requests.length, replies.length - 1)];
    requests.push({ ...request, messages: [...request.messages] });
    const reply = typeof scripted === 'function' ? scripted(request) : scripted;
    if (reply === undefined) throw new Error('The gateway has no script.');
    if ('ok' in reply) return reply;
    const usage = { promptTokens: 10, completionTokens: 5 };
    return { ok: true, text: '', toolCalls: [], finish: 'stop', usage, servedBy: {}, ...reply };
  };
  const nothing = () => Promise.resolve({ ok: true as const, items: [] });
  return {
    requests,
    chat: (request) => Promise.resolve(next(request)),
    chatStream(request, onText) {
      const answer = next(request);
      if (answer.ok) for (const piece of answer.text.match(/\S+\s*/g) ?? []) onText(piece);
      return Promise.resolve(answer);
    },
    embed: () => Promise.reject(new Error('The script has no vectors.')),
    listModels: nothing,
    modelInfo: nothing,
    health: () => Promise.resolve({ ok: true }),
  };
}

export const refusal = (change: Partial<CallFailure>): CallFailure => ({
  ok: false,
  class: 'transient',
  message: 'The call failed.',
  retry: 'never',
  notSent: false,
  ...change,
});

export const toolCall = (name: string, args: unknown, id = 'call-1') => ({
  id,
  name,
  arguments: typeof args === 'string' ? args : JSON.stringify(args),
});

/** Counts nothing and is never full. */
export const endlessLedger = (): QuotaLedger => ({
  availability: () => ({ a: 1, reasons: [] }),
  uses: () => [],
  reserve: (_windows, { agentId }) => ({
    kind: 'reserved',
    lease: { leaseId: 'lease', scope: agentId, atMs: 0 },
  }),
  commit: () => undefined,
  release: () => undefined,
  markSpent: (_window, untilMs) => untilMs ?? 0,
  clearSpent: () => undefined,
  recordExternal: () => undefined,
  prune: () => undefined,
  close: () => undefined,
});

export interface Desk {
  readonly cards: readonly Card[];
  readonly gateway?: GatewayClient;
  readonly clock: Clock;
  readonly states?: readonly TaskState[];
  readonly deps?: Partial<ModelRuntimeDeps>;
}

/** Everything a model persona works with, made from fakes beside the real router. */
export function modelDesk({ cards, gateway, clock, states = [], deps = {} }: Desk) {
  const log = recordingLog();
  const ledger = deps.ledger ?? endlessLedger();
  const health = healthBook({ clock, log });
  const candidates = candidatesFrom(cards);
  const availability = routerAvailability({
    agents: () => ({ commit: 'c0ffee', candidates }),
    ...{ gatewayConfigured: true, health, ledger, clock },
    budgets: () => new Map(),
    warm: () => new Set(),
  });
  const refused = { ok: false as const, reason: 'NO_ADDRESS', message: 'Nobody there.', facts: {} };
  const board: ModelRuntimeDeps['board'] = {
    read: (uid) => {
      const state = states.find(({ taskId }) => taskId === uid);
      return Promise.resolve(state && { uid, events: [], state, beats: undefined });
    },
    resolve: (ref) =>
      Promise.resolve(states.find(({ taskId }) => ref === `task:${taskId}`)?.taskId),
    find: ({ contextId, agentId, parent, principal }) => {
      const found = states.filter(
        (state) =>
          (contextId === undefined || state.contextId === contextId) &&
          (agentId === undefined || state.agentId === agentId) &&
          (parent === undefined || state.task.provenance.parent === parent) &&
          (principal === undefined || state.task.provenance.submitter === principal),
      );
      return Promise.resolve({ states: found, total: found.length });
    },
  };
  const made: ModelRuntimeDeps = {
    ...{ board, ledger, health, clock, log, random: seededRandom(7) },
    artifacts: { put: () => Promise.resolve(''), get: () => Promise.resolve(undefined) },
    calls: {
      send: () => Promise.resolve(refused),
      get: () => Promise.resolve(refused),
      await: () => Promise.resolve(refused),
    },
    routerId: () => 'router',
    ...{ fileRoots: [], repositoryRoots: [], environment: process.env },
    persona: (agentId) => `You are ${agentId}.`,
    snapshot: availability.snapshot,
    gatewayOf: () => gateway,
    ...deps,
  };
  return { deps: made, log };
}

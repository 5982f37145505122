import type { Clock } from '../../fabric/ports/clock.ts';
import type { Log } from '../../fabric/ports/log.ts';
import type { CallFailure } from '../gateway/gateway-client.ts';
import type { GatewayIncident } from '../gateway/call-audit.ts';
import { breakerTerm, failed, soundBreaker, started, succeeded, tripped } from './breaker.ts';
import type { Breaker } from './breaker.ts';
import type { Term } from './term.ts';

/** What calls have shown, by model agent; in memory, for a restart is the best probe. */
export interface HealthBook {
  term(modelAgentId: string): Term;
  gatewayTerm(): Term;
  started(modelAgentId: string): void;
  succeeded(modelAgentId: string): void;
  failed(modelAgentId: string, failure: CallFailure): void;
  /** Logged as an error, and the model rests for 15 min. */
  incident(modelAgentId: string, incident: GatewayIncident): void;
  /** The watch asked the gateway itself. */
  gatewaySeen(alive: boolean): void;
  /** Calls `listener` whenever the gateway answers after it did not. Returns how to end that. */
  onGatewayBack(listener: () => void): () => void;
  /** The Card changed: what was learnt about the old one is void. */
  forget(modelAgentId: string): void;
}

export function healthBook({ clock, log }: { clock: Clock; log: Log }): HealthBook {
  const breakers = new Map<string, Breaker>();
  let gateway = soundBreaker;
  const listeners = new Set<() => void>();
  /** Any sign of life ends its rest. */
  const gatewayLives = () => {
    const wasAway = gateway.restsUntilMs !== undefined;
    gateway = succeeded();
    if (wasAway) for (const listener of listeners) listener();
  };
  const of = (modelAgentId: string) => breakers.get(modelAgentId) ?? soundBreaker;
  const note = (modelAgentId: string, next: Breaker) => {
    const before = of(modelAgentId);
    breakers.set(modelAgentId, next);
    if (next.restsUntilMs === undefined || next.restsUntilMs === before.restsUntilMs) return;
    const fields = { agent: modelAgentId, untilMs: next.restsUntilMs, why: next.why };
    log.warn('model.resting', fields);
  };
  return {
    term: (modelAgentId) => breakerTerm(of(modelAgentId), clock.nowMs()),
    gatewayTerm: () => breakerTerm(gateway, clock.nowMs()),
    started: (modelAgentId) => {
      note(modelAgentId, started(of(modelAgentId), clock.nowMs()));
    },
    succeeded: (modelAgentId) => {
      breakers.delete(modelAgentId);
      gatewayLives();
    },
    failed: (modelAgentId, { class: kind, resetAtMs }) => {
      const nowMs = clock.nowMs();
      note(modelAgentId, failed(of(modelAgentId), kind, nowMs, resetAtMs));
      if (kind === 'gateway-down') gateway = gatewayFailed(gateway, nowMs);
    },
    incident: (modelAgentId, { kind, message }) => {
      log.error('gateway.incident', { agent: modelAgentId, kind, message });
      note(modelAgentId, tripped(of(modelAgentId), clock.nowMs(), message));
    },
    gatewaySeen: (alive) => {
      if (alive) gatewayLives();
      else gateway = gatewayFailed(gateway, clock.nowMs());
    },
    onGatewayBack: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    forget: (modelAgentId) => void breakers.delete(modelAgentId),
  };
}

/** One refused connection is enough, and asking it again costs nothing: short rests without growth. */
function gatewayFailed(gateway: Breaker, nowMs: number): Breaker {
  const why = 'the gateway does not answer';
  return { ...gateway, restsUntilMs: nowMs + gatewayRestMs, why };
}

const gatewayRestMs = 10_000;

import { describe, expect, it } from 'vitest';
import { watchGateway } from '../../router/availability/gateway-watch.ts';
import { healthBook } from '../../router/availability/health-book.ts';
import { failureOf } from '../../router/gateway/call-failure.ts';
import { manualClock } from '../support/manual-clock.ts';
import { recordingLog } from '../support/recording-log.ts';

const down = failureOf({ class: 'gateway-down', retry: 'backoff' }, { what: 'The call' });

function desk() {
  const clock = manualClock();
  const log = recordingLog();
  const health = healthBook({ clock, log });
  let returns = 0;
  const unfollow = health.onGatewayBack(() => {
    returns += 1;
  });
  return { clock, log, health, unfollow, returns: () => returns };
}

describe('the return of the gateway', () => {
  it('is told once, and only after it was away', () => {
    const { health, returns, unfollow } = desk();
    health.gatewaySeen(true);
    expect(returns()).toBe(0);
    health.gatewaySeen(false);
    health.gatewaySeen(false);
    health.gatewaySeen(true);
    health.gatewaySeen(true);
    expect(returns()).toBe(1);
    unfollow();
    health.gatewaySeen(false);
    health.gatewaySeen(true);
    expect(returns()).toBe(1);
  });

  it('is told by a call that was answered, also before the watch finds out', () => {
    const { health, returns } = desk();
    health.failed('kimi', down);
    expect(health.gatewayTerm().a).toBe(0);
    health.succeeded('kimi');
    expect([health.gatewayTerm().a, returns()]).toEqual([1, 1]);
  });
});

describe('the watch of the gateway', () => {
  it('asks every 5 s, and every second while it is away', async () => {
    const { clock, log, health, returns } = desk();
    let isAlive = true;
    let asked = 0;
    const gateway = {
      health: async () => {
        asked += 1;
        return isAlive ? ({ ok: true } as const) : down;
      },
    };
    const stopping = new AbortController();
    const watching = watchGateway({ gateway, health, clock, log }, stopping.signal);
    await clock.advance(0);
    await clock.advance(4_999);
    expect(asked).toBe(1);
    isAlive = false;
    await clock.advance(1);
    expect([asked, health.gatewayTerm().a]).toEqual([2, 0]);
    await clock.advance(3_000);
    expect(asked).toBe(5);
    isAlive = true;
    await clock.advance(1_000);
    expect([asked, health.gatewayTerm().a, returns()]).toEqual([6, 1, 1]);
    await clock.advance(4_999);
    expect(asked).toBe(6);
    stopping.abort();
    await watching;
  });
});

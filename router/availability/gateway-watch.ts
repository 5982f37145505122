import type { Clock } from '../../fabric/ports/clock.ts';
import type { Log } from '../../fabric/ports/log.ts';
import type { GatewayClient } from '../gateway/gateway-client.ts';
import type { HealthBook } from './health-book.ts';

export interface GatewayWatchOptions {
  readonly gateway: Pick<GatewayClient, 'health'>;
  readonly health: Pick<HealthBook, 'gatewaySeen'>;
  readonly clock: Clock;
  readonly log: Log;
  /** Below the 10 s that one refused answer lets the gateway rest, so that it is back soon. */
  readonly everyMs?: number;
  /** The same while it is away: what waits for it goes on about as soon as it is back. */
  readonly everyMsWhileAway?: number;
}

/** Asks the gateway itself, never a model, whether it lives, until `signal` aborts. Resolves then. */
export async function watchGateway(
  { gateway, health, clock, log, everyMs = 5_000, everyMsWhileAway = 1_000 }: GatewayWatchOptions,
  signal: AbortSignal,
): Promise<void> {
  let wasAlive: boolean | undefined;
  while (!signal.aborted) {
    const answer = await gateway.health(signal);
    if (!answer.ok && answer.class === 'aborted') return;
    health.gatewaySeen(answer.ok);
    if (answer.ok !== wasAlive) {
      if (answer.ok) log.info('gateway.up');
      else log.warn('gateway.down', { message: answer.message });
    }
    wasAlive = answer.ok;
    await clock.sleep(answer.ok ? everyMs : everyMsWhileAway, signal);
  }
}

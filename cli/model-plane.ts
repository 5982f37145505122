import type { CardRegistry } from '../cards/registry/card-registry.ts';
import { loadSqlite } from '../fabric/embedded/sqlite-module.ts';
import type { Clock } from '../fabric/ports/clock.ts';
import type { Log } from '../fabric/ports/log.ts';
import type { Random } from '../fabric/ports/random.ts';
import { watchGateway } from '../router/availability/gateway-watch.ts';
import { healthBook, type HealthBook } from '../router/availability/health-book.ts';
import {
  routerAvailability,
  type RouterAvailability,
} from '../router/availability/router-availability.ts';
import { candidatesFrom } from '../router/candidates-from-cards.ts';
import type { GatewayClient } from '../router/gateway/gateway-client.ts';
import { openAiWireGateway } from '../router/gateway/open-ai-wire.ts';
import { openLedgerDatabase } from '../router/ledger/ledger-database.ts';
import type { QuotaLedger } from '../router/ledger/quota-ledger.ts';
import { sqliteLedger } from '../router/ledger/sqlite-ledger.ts';
import type { Environment } from './config.ts';
import type { HomePaths } from './home.ts';
import { gatewayKeyOf } from './secrets.ts';

export interface ModelPlaneOptions {
  readonly paths: HomePaths;
  readonly environment: Environment;
  readonly registry: CardRegistry;
  /** Absent: no gateway is configured, and model personas wait. */
  readonly gatewayUrl: string | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly stopping: AbortSignal;
}

/** Models behind the gateway: whether they are there, what they may still do, how to call them. */
export interface ModelPlane {
  readonly ledger: QuotaLedger;
  readonly health: HealthBook;
  readonly availability: RouterAvailability;
  /** The gateway with the key of one agent; undefined where none is configured. */
  readonly gatewayOf: (agentId: string) => GatewayClient | undefined;
  close(): Promise<void>;
}

const probeTimeoutMs = 3_000;

export async function openModelPlane(options: ModelPlaneOptions): Promise<ModelPlane> {
  const { paths, environment, registry, gatewayUrl, clock, random, log, stopping } = options;
  const database = openLedgerDatabase(await loadSqlite(), paths.ledger);
  const ledger = sqliteLedger({ database, clock, random, log });
  const health = healthBook({ clock, log });
  const candidateSet = () => {
    const { commit, cards } = registry.current();
    return { commit, candidates: candidatesFrom(cards.values()) };
  };
  let known = candidateSet();
  const forget = registry.onChange(() => {
    for (const agentId of known.candidates.keys()) health.forget(agentId);
    known = candidateSet();
  });
  const availability = routerAvailability({
    agents: () => known,
    gatewayConfigured: gatewayUrl !== undefined,
    health,
    ledger,
    clock,
    // Budgets and loaded models are reported by nobody yet: metered models stay closed.
    budgets: () => new Map(),
    warm: () => new Set(),
  });
  const connect = (agentId: string) => {
    if (gatewayUrl === undefined) return undefined;
    const apiKey = gatewayKeyOf(paths, environment, agentId);
    const wire = { baseUrl: gatewayUrl, apiKey, kind: 'litellm' as const, fetch, clock };
    return openAiWireGateway({ ...wire, probeTimeoutMs });
  };
  const gateways = new Map<string, GatewayClient | undefined>();
  const gateway = connect('mesh');
  const watching = gateway && watchGateway({ gateway, health, clock, log }, stopping);
  return {
    ledger,
    health,
    availability,
    gatewayOf(agentId) {
      const client = gateways.get(agentId) ?? connect(agentId);
      gateways.set(agentId, client);
      return client;
    },
    async close() {
      forget();
      await watching;
      ledger.close();
    },
  };
}

import { Hono, type Context } from 'hono';
import type { CardRegistry } from '../cards/registry/card-registry.ts';
import { MeshError } from '../fabric/domain/errors.ts';
import type { Principal } from '../fabric/domain/principal.ts';
import type { AvailabilityProbe } from '../fabric/ports/availability.ts';
import { requireScope } from '../fabric/queue/answer.ts';
import type { QueueDeps } from '../fabric/queue/deps.ts';
import { toProblem, type FaultReporter } from '../agents/a2a/error-table.ts';
import type { MountBindings } from '../agents/a2a/mount-path.ts';
import type { Authenticate } from '../agents/auth/authenticate.ts';
import { boardRoutes } from '../agents/board-routes.ts';
import { boardWebhook, type BoardWebhook } from '../agents/board-webhook.ts';
import { inboxRoutes } from '../agents/human/inbox-routes.tsx';
import type { InboxPeople } from '../agents/human/inbox-people.ts';
import type { InboxSessions } from '../agents/human/inbox-sessions.ts';

export interface FrontDeps {
  readonly queue: QueueDeps;
  readonly registry: CardRegistry;
  readonly availability: AvailabilityProbe;
  readonly authenticate: Authenticate;
  readonly faults: FaultReporter;
  readonly sessions: InboxSessions;
  readonly people: InboxPeople;
  readonly metrics: () => Promise<string>;
  /** A persona's own app, if it is served here. */
  readonly serviceOf: (agentId: string) => Hono | undefined;
  readonly publicUrl: () => string;
  /** Who says that something changed on the board; absent: this board has nobody who does. */
  readonly webhook?: BoardWebhook;
}

/** What `GET /agents` tells of one agent. */
export interface AgentListing {
  readonly agentId: string;
  readonly name: string;
  readonly description: string;
  readonly url: string;
  readonly runtime: string;
  readonly trust: string;
  readonly tier?: string;
  readonly cost: string;
  readonly queue: string;
  readonly commit: string;
  readonly availability: ReturnType<AvailabilityProbe['at']>;
}

/**
 * The one address of a mesh: the router at `/`, each persona below `/agents/<id>`, the board, the
 * inbox and the metrics. Only the health word, the minimal Agent Cards and the inbox's login answer
 * without a credential; the board's webhook has one of its own.
 */
export function createFront(deps: FrontDeps): Hono {
  const app = new Hono({ strict: false });
  const { queue, sessions, availability, people } = deps;
  const onError = (error: Error, c: Context) => {
    const { status, body } = toProblem(error, deps.faults);
    if (status === 401) c.header('WWW-Authenticate', 'Bearer realm="cardmesh"');
    return c.json(body, status);
  };
  app.onError(onError);
  /** The front stands for the router: a call that is signed for the one is meant for the other. */
  const whoCalls = (request: Request) => deps.authenticate(request, routerOf(deps.registry));
  const authenticate = async (request: Request) => notOfRun(await whoCalls(request));

  app.get('/healthz', (c) => c.text('ok'));
  app.get('/metrics', async (c) => {
    requireScope(await authenticate(c.req.raw), 'tasks:read');
    return c.text(await deps.metrics(), 200, { 'Content-Type': 'text/plain; version=0.0.4' });
  });
  app.get('/whoami', async (c) => {
    const { id, role } = await whoCalls(c.req.raw);
    return c.json({ principal: id, role });
  });
  app.get('/agents', async (c) => {
    requireScope(await authenticate(c.req.raw), 'cards:read');
    return c.json(listAgents(deps));
  });
  app.all('/agents/:agentId/*', (c) => toPersona(deps, c, c.req.param('agentId')));
  app.all('/agents/:agentId', (c) => toPersona(deps, c, c.req.param('agentId')));
  app.post('/board/webhook', boardWebhook(deps.webhook));
  app.route('/board', boardRoutes({ board: queue.board, authenticate, onError }));
  app.post('/inbox/links', async (c) => {
    const grant = people.grantFor(await authenticate(c.req.raw), c.req.raw);
    const { key, expiresAtMs } = sessions.createLink(grant);
    return c.json({ url: `${deps.publicUrl()}/inbox/login?key=${key}`, expiresAtMs });
  });
  const { personOf } = people;
  const secure = deps.publicUrl().startsWith('https:');
  app.route('/inbox', inboxRoutes({ queue, sessions, availability, personOf, secure }));
  const toRouter = (c: Context) => toPersona(deps, c, routerOf(deps.registry), '');
  app.get('/', (c, next) => {
    // The address that `mesh up` prints is opened in browsers too.
    const isBrowser = c.req.header('accept')?.includes('text/html') ?? false;
    return isBrowser ? Promise.resolve(c.redirect('/inbox')) : next();
  });
  app.all('/', toRouter);
  app.get('/.well-known/*', toRouter);
  return app;
}

/** A run submits children of its task and awaits them at their agents; the board and the rest are not its. */
function notOfRun(principal: Principal): Principal {
  if (principal.run === undefined) return principal;
  throw new MeshError(
    'TRUST_DENIED',
    `The credential of a run of ${principal.id} opens only its task's children, at /agents/<id>/. ` +
      'Use an API token: mesh token create.',
  );
}

function routerOf(registry: CardRegistry): string {
  const router = registry
    .directory()
    .agents()
    .find(({ runtime }) => runtime === 'router');
  return router?.agentId ?? 'router';
}

/** Hands the request to the persona's own app, as it came. */
function toPersona(
  { serviceOf }: FrontDeps,
  c: Context,
  agentId: string,
  mountPath = `/agents/${agentId}`,
): Response | Promise<Response> {
  const service = serviceOf(agentId);
  if (service === undefined) {
    throw new MeshError('NOT_FOUND', `No agent ${agentId} is served here. See: mesh cards list`);
  }
  return service.fetch(c.req.raw, { ...c.env, mountPath } satisfies MountBindings);
}

export function listAgents({
  registry,
  availability,
  publicUrl,
}: Pick<FrontDeps, 'registry' | 'availability' | 'publicUrl'>): readonly AgentListing[] {
  return registry
    .directory()
    .agents()
    .map((policy) => ({
      agentId: policy.agentId,
      name: policy.name,
      description: registry.card(policy.agentId)?.description ?? '',
      url: `${publicUrl()}/agents/${policy.agentId}/`,
      runtime: policy.runtime,
      trust: policy.trust,
      ...(policy.tier ? { tier: policy.tier } : {}),
      cost: policy.cost,
      queue: policy.queue,
      commit: policy.commit,
      availability: availability.at(policy.agentId),
    }));
}

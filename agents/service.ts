import { Hono } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { limits } from '../fabric/domain/limits.ts';
import { artifactRoute } from './a2a/artifact-route.ts';
import { cardRoutes, type CardRouteOptions } from './a2a/card-routes.ts';
import type { Edge } from './a2a/edge.ts';
import { faultReporter, toProblem } from './a2a/error-table.ts';
import { pathBelowMount } from './a2a/mount-path.ts';
import { challenge, rpcRoute } from './a2a/rpc-route.ts';
import type { Authenticate } from './auth/authenticate.ts';

export type PersonaServiceOptions = Omit<Edge, 'waitMs'> & {
  readonly authenticate: Authenticate;
  /** Longest that a waiting call waits, ms; default `limits.waitMs`. */
  readonly waitMs?: number;
  /** What `agent-card.json` is for a client that names no version; default `hybrid`. */
  readonly bareCard?: CardRouteOptions['bareCard'];
};

/**
 * A persona as an A2A service, at its own root or below `MountBindings.mountPath` (`DESIGN.md` 6.1): JSON-RPC on `/`, its Agent
 * Card under `/.well-known`, and its tasks' artifacts. Nothing of it holds a run: all of them can be
 * made anew while tasks go on.
 */
export function createPersonaService(options: PersonaServiceOptions): Hono {
  const { authenticate, bareCard = 'hybrid', waitMs = limits.waitMs, ...rest } = options;
  const edge: Edge = { ...rest, waitMs };
  const faults = faultReporter(edge.queue.log, edge.queue.random);
  const app = new Hono({ getPath: pathBelowMount });
  const rpc = rpcRoute(edge, authenticate);
  app.post('/', (c) => rpc(c.req.raw));
  app.route('/.well-known', cardRoutes({ edge, authenticate, bareCard }));
  app.route('/artifacts', artifactRoute(edge, authenticate));
  app.onError((error, c) => {
    const { status, body } = toProblem(error, faults);
    if (status === 401) c.header('WWW-Authenticate', challenge);
    c.header('Content-Type', 'application/problem+json');
    return c.body(JSON.stringify(body), status satisfies ContentfulStatusCode);
  });
  return app;
}

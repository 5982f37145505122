import { Hono, type Context } from 'hono';
import { MeshError } from '../../fabric/domain/errors.ts';
import { fullCardSource, minimalCardSource } from '../../cards/agent-card/agent-card-source.ts';
import { agentCardJson, type AgentCardShape } from '../../cards/agent-card/agent-card-wire.ts';
import { cardBody, type CardBody } from '../../cards/agent-card/card-body.ts';
import type { Authenticate } from '../auth/authenticate.ts';
import { presentsCredential } from '../auth/credential.ts';
import type { Edge } from './edge.ts';
import { baseUrlOf } from './task-view.ts';
import { wireVersionOf } from './wire-version.ts';

export interface CardRouteOptions {
  readonly edge: Edge;
  readonly authenticate: Authenticate;
  /** What a client gets that names no version; 1.0 where foreign verifiers read the raw JSON. */
  readonly bareCard: '1.0' | 'hybrid';
}

/** How long a client may take a card for the present one, seconds. */
const maxAgeSeconds = 60;

/**
 * The persona's Agent Card: minimal for everybody, unless its Card says `publicCard: none`; full with
 * a credential that may read cards. `agent.json` is what clients before 1.0 look for.
 */
export function cardRoutes({ edge, authenticate, bareCard }: CardRouteOptions): Hono {
  const app = new Hono();
  const bodies = cardBodies(edge);
  const serve = async (c: Context, shape: AgentCardShape) => {
    const isFull = await seesFullCard(c.req.raw, edge, authenticate);
    const body = bodies(isFull ? 'full' : 'minimal', shape);
    const headers = {
      ETag: body.etag,
      Vary: 'A2A-Version, Authorization, X-API-Key',
      'Cache-Control': `${isFull ? 'private' : 'public'}, max-age=${maxAgeSeconds}`,
      'Content-Type': 'application/json',
      'A2A-Version': shape === '0.3' ? '0.3' : '1.0',
    };
    const isKnown = c.req.header('If-None-Match')?.split(/,\s*/).includes(body.etag);
    return isKnown ? c.body(null, 304, headers) : c.body(body.text, 200, headers);
  };
  app.get('/agent.json', (c) => serve(c, '0.3'));
  app.get('/agent-card.json', (c) => {
    const asked = c.req.header('A2A-Version') ?? c.req.query('A2A-Version');
    return serve(c, asked ? wireVersionOf(asked, '') : bareCard);
  });
  return app;
}

/** A credential that is there must hold; without one the card says how to get in. */
async function seesFullCard(
  request: Request,
  edge: Edge,
  authenticate: Authenticate,
): Promise<boolean> {
  const isPublic = edge.registry.card(edge.agentId)?.publicCard === 'minimal';
  if (isPublic && !presentsCredential(request)) return false;
  return (await authenticate(request, edge.agentId)).scopes.has('cards:read');
}

/** Bodies of the card that is served now; made once for each commit and address. */
function cardBodies(edge: Edge) {
  let made = new Map<string, CardBody>();
  let madeFor: unknown;
  let madeAt = '';
  return (extent: 'full' | 'minimal', shape: AgentCardShape): CardBody => {
    const [set, url] = [edge.registry.current(), baseUrlOf(edge)];
    if (set !== madeFor || url !== madeAt) {
      made = new Map();
      madeFor = set;
      madeAt = url;
    }
    const known = made.get(`${extent} ${shape}`);
    if (known) return known;
    const card = set.cards.get(edge.agentId);
    if (card === undefined) {
      throw new MeshError('NOT_FOUND', `There is no Card ${edge.agentId} any more.`);
    }
    const source =
      extent === 'full'
        ? fullCardSource(card, { url, commit: set.commit })
        : minimalCardSource(card, url);
    const body = cardBody(agentCardJson(source, shape));
    made.set(`${extent} ${shape}`, body);
    return body;
  };
}

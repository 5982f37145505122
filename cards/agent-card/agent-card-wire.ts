import type { AgentCardSource } from './agent-card-source.ts';
import type { JsonObject } from './canonical-json.ts';

/**
 * Which JSON a client gets: the 1.0 shape, the 0.3 shape, or 1.0 with the fields of 0.3 added for
 * clients that name no version.
 */
export type AgentCardShape = '1.0' | '0.3' | 'hybrid';

/**
 * The wire JSON of an agent card. It holds to the portable rule, so that every canonicaliser gives
 * the same bytes: no empty text or list, no `false` outside capabilities, ASCII keys, and a scope in
 * every security requirement (A2A issues 2122 and 2249).
 */
export function agentCardJson(source: AgentCardSource, shape: AgentCardShape): JsonObject {
  if (shape === '1.0') return currentShape(source);
  if (shape === '0.3') return olderShape(source);
  const [older, current] = [olderShape(source), currentShape(source)];
  return { ...older, ...current, securitySchemes: { ...bothSchemes } };
}

const scope = 'a2a.invoke';
const modes = ['text/plain', 'application/json'];
const http = {
  meshJwt: {
    description: 'A JWT of at most five minutes that the calling agent signs for this agent.',
    scheme: 'bearer',
    bearerFormat: 'JWT',
  },
  apiToken: {
    description: 'A token that an operator issued with `mesh token create`.',
    scheme: 'bearer',
    bearerFormat: 'opaque',
  },
} as const;

const schemes = Object.entries(http);
const currentSchemes = Object.fromEntries(
  schemes.map(([name, scheme]) => [name, { httpAuthSecurityScheme: scheme }]),
);
const olderSchemes = Object.fromEntries(
  schemes.map(([name, scheme]) => [name, { type: 'http', ...scheme }]),
);
const bothSchemes = Object.fromEntries(
  schemes.map(([name, scheme]) => [
    name,
    { type: 'http', ...scheme, httpAuthSecurityScheme: scheme },
  ]),
);

function currentShape(source: AgentCardSource): JsonObject {
  return {
    ...common(source),
    supportedInterfaces: [
      { url: source.url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
      { url: source.url, protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
    ],
    capabilities: { ...capabilities(source), extendedAgentCard: false },
    securitySchemes: currentSchemes,
    securityRequirements: schemes.map(([name]) => ({ schemes: { [name]: { list: [scope] } } })),
  };
}

function olderShape(source: AgentCardSource): JsonObject {
  return {
    ...common(source),
    protocolVersion: '0.3.0',
    url: source.url,
    preferredTransport: 'JSONRPC',
    additionalInterfaces: [{ url: source.url, transport: 'JSONRPC' }],
    capabilities: capabilities(source),
    securitySchemes: olderSchemes,
    security: schemes.map(([name]) => ({ [name]: [scope] })),
  };
}

function common({ name, description, version, skills }: AgentCardSource): JsonObject {
  return {
    name,
    description,
    version,
    defaultInputModes: modes,
    defaultOutputModes: modes,
    skills: skills.map(({ id, name: title, description: text, tags, examples }) => ({
      id,
      name: title,
      description: text,
      tags,
      ...(examples.length > 0 && { examples }),
    })),
  };
}

function capabilities({ extensions }: AgentCardSource): JsonObject {
  const declared = extensions.map(({ uri, description, params }) => ({
    uri,
    description,
    ...(params && { params }),
  }));
  return {
    streaming: true,
    pushNotifications: false,
    ...(declared.length > 0 && { extensions: declared }),
  };
}

import { AgentCard } from '@a2a-js/sdk';
import { describe, expect, it } from 'vitest';
import {
  extensionUris,
  fullCardSource,
  minimalCardSource,
} from '../../cards/agent-card/agent-card-source.ts';
import { agentCardJson } from '../../cards/agent-card/agent-card-wire.ts';
import { cardBody } from '../../cards/agent-card/card-body.ts';
import type { Json } from '../../cards/agent-card/canonical-json.ts';
import { judgeRemoteCard } from '../../cards/agent-card/remote-card.ts';
import { readCard } from '../../cards/schema/read-card.ts';
import { cardBytes } from '../support/card-yaml.ts';

const url = 'https://mesh.example.org/agents/adolf/';
const { card } = readCard('cards/adolf.card.yaml', cardBytes({ tier: 'large' }), 1);
if (card === undefined) throw new Error('the sound Card of the tests is not sound');
const full = fullCardSource(card, { url, commit: 'c'.repeat(40), backbone: 'kimi' });
const minimal = minimalCardSource(card, url);

/** Every value of a JSON tree with its path. */
function* walk(value: Json, path: string): Generator<readonly [string, Json]> {
  yield [path, value];
  if (typeof value !== 'object' || value === null) return;
  for (const [key, inner] of Object.entries(value)) yield* walk(inner, `${path}.${key}`);
}

describe('the AgentCard of a Card', () => {
  it('is the wire form of the SDK, to and fro, in the 1.0 shape', () => {
    for (const source of [full, minimal]) {
      const json = agentCardJson(source, '1.0');
      expect(AgentCard.toJSON(AgentCard.fromJSON(json))).toEqual(json);
    }
  });

  it('names one address for 1.0 first and for 0.3 second', () => {
    expect(agentCardJson(minimal, '1.0')['supportedInterfaces']).toEqual([
      { url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
      { url, protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
    ]);
  });

  it('tells those with a credential how it is registered', () => {
    const { extensions } = AgentCard.fromJSON(agentCardJson(full, '1.0')).capabilities ?? {};
    expect(extensions?.map(({ uri }) => uri)).toEqual(Object.values(extensionUris));
    expect(extensions?.at(-1)?.params).toEqual({
      tier: 'large',
      costClass: 'free-local',
      trust: 'trusted',
      availability: 'always',
      queue: 'adolf',
      backbone: 'kimi',
      commit: 'c'.repeat(40),
    });
  });

  it('tells everybody else how to authenticate and nothing more', () => {
    for (const shape of ['1.0', '0.3', 'hybrid'] as const) {
      const text = JSON.stringify(agentCardJson(minimal, shape));
      expect(text).not.toMatch(/trusted|large|free-local|cardmesh:ext|audit|c{40}|queue/);
      expect(text).toMatch(/bearer/);
    }
  });

  it('is portable: no empty value, no false outside capabilities, ASCII keys', () => {
    for (const source of [full, minimal])
      for (const [path, value] of walk(agentCardJson(source, '1.0'), '$')) {
        expect(path).toMatch(/^[\x20-\x7e]+$/);
        expect(value).not.toBe('');
        expect(value).not.toEqual([]);
        expect(value).not.toEqual({});
        if (value === false) expect(path).toMatch(/^\$\.capabilities\.\w+$/);
      }
  });

  it('has the shape of 0.3 where that is asked for', () => {
    const json = agentCardJson(full, '0.3');
    expect(json).toMatchObject({
      protocolVersion: '0.3.0',
      url,
      preferredTransport: 'JSONRPC',
      securitySchemes: { meshJwt: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } },
    });
    expect(json).not.toHaveProperty('supportedInterfaces');
    expect(json).not.toHaveProperty('securityRequirements');
  });

  it('serves both generations in the hybrid shape', () => {
    const json = agentCardJson(full, 'hybrid');
    expect(AgentCard.toJSON(AgentCard.fromJSON(json))).toEqual(agentCardJson(full, '1.0'));
    expect(json).toMatchObject(agentCardJson(full, '0.3'));
  });

  it('is a card that we would accept from somebody else', () => {
    for (const shape of ['1.0', '0.3', 'hybrid'] as const)
      expect(
        judgeRemoteCard(JSON.stringify(agentCardJson(full, shape)), { labHosts: [] }),
      ).toMatchObject({
        verdict: 'accept',
        warnings: [],
        wireVersion: shape === '0.3' ? '0.3' : '1.0',
        tokenOrigin: 'https://mesh.example.org',
      });
  });

  it('has a strong ETag of exactly its bytes', () => {
    const one = cardBody(agentCardJson(full, '1.0'));
    expect(one.etag).toMatch(/^"[0-9a-f]{64}"$/);
    expect(cardBody(agentCardJson(full, '1.0'))).toEqual(one);
    expect(cardBody(agentCardJson(minimal, '1.0')).etag).not.toBe(one.etag);
    expect(JSON.parse(one.text)).toEqual(agentCardJson(full, '1.0'));
  });
});

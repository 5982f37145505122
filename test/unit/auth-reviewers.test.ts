import { join } from 'node:path';
import { exportJWK, generateKeyPair } from 'jose';
import { expect, it } from 'vitest';
import { createAuthenticate } from '../../agents/auth/authenticate.ts';
import { signCall, type PrivateJwk } from '../../agents/auth/sign.ts';
import { tokenStore } from '../../agents/auth/token-store.ts';
import type { Card } from '../../cards/schema/card.ts';
import { systemRandom } from '../../fabric/telemetry/system-random.ts';
import { queueMesh } from '../support/queue-mesh.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** Who calls with each kind of credential that an agent of that Card has. */
async function callers(reviewer: boolean) {
  const { deps } = queueMesh();
  const { clock } = deps;
  const { privateKey } = await generateKeyPair('EdDSA', { extractable: true });
  const privateJwk = (await exportJWK(privateKey)) as PrivateJwk;
  const { d: _secret, ...identity } = privateJwk;
  const common = { id: 'critic', trust: 'trusted', runtime: 'model', identity, mayCall: ['*'] };
  const critic = { ...common, verification: { policy: 'none', reviewer } };
  const relay = { ...common, id: 'relay', runtime: 'router', verification: { reviewer: false } };
  const cards = new Map<string, unknown>(Object.entries({ critic, relay }));
  const tokens = tokenStore({
    ...{ path: join(await temporaryFolder(), 'tokens.json'), clock, random: systemRandom },
  });
  const authenticate = createAuthenticate({
    registry: { card: (id) => cards.get(id) as Card | undefined, current: () => [] as never },
    ...{ tokens, board: deps.board, meshSecret: deps.meshSecret, clock },
  });
  const signed = { privateJwk, audience: 'adolf', clock };
  const { token } = await tokens.createToken({
    ...{ principalId: 'critic', role: 'agent', scopes: ['tasks:verify'], label: 'l' },
  });
  const onBehalfOf = { id: 'critic', role: 'agent' } as const;
  const credentials = [
    token,
    await signCall({ ...signed, agentId: 'critic' }),
    await signCall({ ...signed, agentId: 'relay', onBehalfOf }),
  ];
  return Promise.all(
    credentials.map(async (credential) => {
      const headers = { authorization: `Bearer ${credential}` };
      const { id, reviewer: isOne } = await authenticate(
        new Request('http://mesh.test/', { headers }),
        'adolf',
      );
      return [id, isOne ?? false];
    }),
  );
}

it.each([true, false])('an agent is a reviewer where its Card says so: %s', async (reviewer) => {
  const each = ['critic', reviewer];
  expect(await callers(reviewer)).toEqual([each, each, each]);
});

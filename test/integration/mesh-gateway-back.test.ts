import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Environment } from '../../cli/config.ts';
import { loadConfig } from '../../cli/config.ts';
import { composedMesh, testEnvironment, type ComposedMesh } from '../support/composed-mesh.ts';
import { until } from '../support/edge-calls.ts';
import { manualClock, type ManualClock } from '../support/manual-clock.ts';
import { meshHome, type MeshHome } from '../support/mesh-home.ts';
import { openAiUpstream, type OpenAiUpstream } from '../support/openai-upstream.ts';

/** The gateway's own health names no model. */
const health = '';
const away = { kind: 'error', status: 503, body: {} } as const;

let gateway: OpenAiUpstream;
let home: MeshHome;
let clock: ManualClock;
let composed: ComposedMesh;
beforeEach(async () => {
  gateway = await openAiUpstream({
    [health]: away,
    'local-small': { kind: 'text', text: 'Guten Morgen' },
  });
  home = await meshHome();
  clock = manualClock();
  const environment: Environment = {
    ...testEnvironment,
    ...{ gatewayUrl: gateway.url, gatewayKey: 'sk-test' },
  };
  const config = await loadConfig(home.dir, environment);
  composed = await composedMesh(home.dir, { environment, config, clock });
});
afterEach(async () => {
  const over = new AbortController();
  const stopped = composed.mesh.stop().finally(() => {
    over.abort();
  });
  while (!over.signal.aborted) await clock.advance(100);
  await stopped;
  await gateway.stop();
  home.remove();
});

const isAway = () =>
  composed.mesh.agents().find(({ agentId }) => agentId === 'local-small')?.availability.a === 0;

/** The clock moves by one look at a gateway that is away; the poll of a worker is several seconds off. */
it('takes what waits for the gateway when that is back, before the next poll', async () => {
  await until(() => Promise.resolve(isAway()), Boolean);
  composed.mesh.start();
  const uid = await composed.submit('local-small', 'Translate: good morning');
  expect((await composed.stateOf(uid)).phase).toBe('ready');
  gateway.script(health, { kind: 'text', text: 'alive' });
  await clock.advance(1_000);
  const { outcome } = await until(
    () => composed.stateOf(uid),
    ({ phase }) => phase === 'done',
  );
  expect(outcome?.artifacts[0]?.text).toBe('Guten Morgen');
});

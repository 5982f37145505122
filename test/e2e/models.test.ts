import { afterAll, beforeAll, expect, it } from 'vitest';
import { message, rpc, taskOf } from '../support/edge-calls.ts';
import { meshHome, type MeshHome } from '../support/mesh-home.ts';
import { eventually, startMesh, type MeshProcess } from '../support/mesh-process.ts';
import { submit, taskEvents, taskState } from '../support/mesh-tasks.ts';
import { openAiUpstream, type OpenAiUpstream } from '../support/openai-upstream.ts';
import { startLiteLlm, type RunningLiteLlm } from '../support/services/litellm.ts';
import { describeWith } from '../support/services/service.ts';

const deployment = (name: string, upstreamUrl: string) =>
  `  - {model_name: ${name}, litellm_params: {model: openai/${name}, api_base: "${upstreamUrl}", api_key: none},` +
  ` model_info: {id: ${name}-pin, input_cost_per_token: 0, output_cost_per_token: 0}}\n`;

const configYaml = (upstreamUrl: string) =>
  [
    'model_list:\n',
    ...['kimi', 'local-small', 'rationed'].map((name) => deployment(name, upstreamUrl)),
    'router_settings: {num_retries: 0, fallbacks: []}\n',
    'general_settings: {always_include_stream_usage: true}\n',
  ].join('');

describeWith('litellm', 'models behind a real LiteLLM', () => {
  let upstream: OpenAiUpstream;
  let proxy: RunningLiteLlm;
  let home: MeshHome;
  let mesh: MeshProcess;

  beforeAll(async () => {
    upstream = await openAiUpstream({
      kimi: { kind: 'text', text: 'The largest risk is the untested restore.' },
      'local-small': { kind: 'text', text: 'Guten Morgen' },
      rationed: { kind: 'text', text: 'Here.' },
    });
    proxy = await startLiteLlm({ configYaml: configYaml(upstream.url) });
    home = await meshHome();
    await home.addCard('rationed', {
      runtime: 'model',
      rehearsal: undefined,
      cost: 'flat-quota',
      tier: 'small',
      model: {
        gateway: 'rationed',
        contextTokens: 8192,
        caps: ['streaming'],
        windows: [{ id: 'five-hours', cap: 2, length: '5h', reserveInteractive: 0 }],
      },
    });
    home.commit();
    const env = { MESH_GATEWAY_URL: proxy.url, MESH_GATEWAY_KEY: proxy.masterKey };
    mesh = await startMesh({ home: home.dir, env, args: ['--log-level', 'info'] });
    await eventually(
      async () => (await availabilityOf('adolf')).a,
      (a) => a === 1,
      20_000,
    );
  }, 240_000);
  afterAll(async () => {
    await mesh.stop('SIGKILL');
    home.remove();
    await proxy.stop();
    await upstream.stop();
  }, 30_000);

  const availabilityOf = async (agentId: string): Promise<{ a: number; reasons: string[] }> => {
    const headers = { authorization: `Bearer ${mesh.token}` };
    const listed = (await (await fetch(`${mesh.url}/agents`, { headers })).json()) as {
      agentId: string;
      availability: { a: number; reasons: string[] };
    }[];
    const found = listed.find((one) => one.agentId === agentId);
    if (found === undefined) throw new Error(`${agentId} is not listed`);
    return found.availability;
  };
  const phaseOf = (uid: string) => async () => (await taskState(mesh, uid)).phase;
  const isDone = (phase: string) => phase === 'done';
  const callsOf = (name: string) => upstream.requests.filter(({ model }) => model === name).length;

  /** Waiting, not failed: in the agents' availability, in the table of tasks and in `mesh why`. */
  const expectParked = async (uids: readonly string[]) => {
    const seen = await eventually(
      () => availabilityOf('local-small'),
      ({ a }) => a === 0,
      20_000,
    );
    expect(seen.reasons.join()).toContain('the gateway does not answer');
    for (const uid of uids) {
      await eventually(phaseOf(uid), (phase) => phase === 'ready', 20_000);
      expect((await taskState(mesh, uid)).attempts).toBe(0);
      expect((await mesh.mesh('why', uid)).stdout).toMatch(/gateway does not answer/);
    }
    const table = (await mesh.mesh('tasks')).stdout.split('\n');
    const rows = table.filter((row) => uids.some((uid) => row.includes(uid.slice(0, 8))));
    expect(rows).toHaveLength(uids.length);
    for (const row of rows) expect(row).toContain('parked');
  };
  /** Each ends with one outcome of its one attempt that counted. */
  const expectAllDone = async (uids: readonly string[]) => {
    const answersAgainMs = performance.now();
    await Promise.all(uids.map((uid) => eventually(phaseOf(uid), isDone, 30_000)));
    const resumedMs = Math.round(performance.now() - answersAgainMs);
    process.stdout.write(`figure: gateway back to ${uids.length} tasks done ${resumedMs} ms\n`);
    for (const uid of uids) {
      const { attempts, outcome } = await taskState(mesh, uid);
      expect([attempts, outcome?.artifacts[0]?.text]).toEqual([1, 'Guten Morgen']);
      const kinds = (await taskEvents(mesh, uid)).map(({ kind }) => kind);
      expect(kinds.filter((kind) => kind === 'settled')).toHaveLength(1);
    }
  };

  it('lets a persona answer with its own character, and records what it used', async () => {
    const sent = await rpc(
      `${mesh.url}/agents/adolf/`,
      'SendMessage',
      { message: message('What is the largest risk of this plan?') },
      { token: mesh.token },
    );
    const task = taskOf(sent);
    expect(task.status.state).toBe('TASK_STATE_COMPLETED');
    expect(task.artifacts?.[0]?.parts[0]?.text).toBe('The largest risk is the untested restore.');
    const call = upstream.requests.findLast(({ model }) => model === 'kimi');
    const persona = home.read('personas/adolf.md').trim().split('\n').at(-1) ?? '';
    expect(JSON.stringify(call?.body['messages'])).toContain(JSON.stringify(persona).slice(1, -1));
    expect((await taskState(mesh, task.id)).outcome?.usage).toMatchObject({
      inputTokens: 11,
      outputTokens: 7,
      model: 'kimi',
    });
  }, 60_000);

  it('parks work while the gateway is gone, the call under way too, says why, and goes on by itself', async () => {
    upstream.script('local-small', { kind: 'silent' });
    const before = callsOf('local-small');
    const broken = await submit(mesh, 'local-small', 'Translate: good night');
    await eventually(
      () => callsOf('local-small') - before,
      (calls) => calls === 1,
    );
    await proxy.end('SIGKILL');
    const waiting = await Promise.all(
      ['morning', 'noon'].map((when) => submit(mesh, 'local-small', `Translate: good ${when}`)),
    );
    await expectParked([broken, ...waiting]);
    upstream.script('local-small', { kind: 'text', text: 'Guten Morgen' });
    await proxy.startAgain();
    await expectAllDone([broken, ...waiting]);
    // The call that the gateway took with it, and one for each task.
    expect(callsOf('local-small') - before).toBe(1 + 3);
  }, 120_000);

  it('parks at a spent window until it opens, without a call or an attempt', async () => {
    const first = await submit(mesh, 'rationed', 'one');
    const second = await submit(mesh, 'rationed', 'two');
    await eventually(phaseOf(first), isDone, 20_000);
    await eventually(phaseOf(second), isDone, 20_000);
    const calls = upstream.requests.length;
    const third = await submit(mesh, 'rationed', 'three');
    const why = await mesh.mesh('why', third, '--json');
    const { sentence } = JSON.parse(why.stdout) as { sentence: string };
    expect(sentence).toMatch(/2 of 2 requests used/);
    expect(sentence).toMatch(/until \d{4}-|until .*\d\d:\d\d/);
    const waits = await taskState(mesh, third);
    expect([waits.phase, waits.attempts]).toEqual(['ready', 0]);
    expect(upstream.requests.length).toBe(calls);
  }, 60_000);

  it('logs neither what was said nor a credential', () => {
    const log = mesh.stderr();
    expect(log).toContain('"event":"task.submitted"');
    expect(log).not.toContain('good morning');
    expect(log).not.toContain('Guten Morgen');
    expect(log).not.toContain(proxy.masterKey);
    expect(log).not.toContain(mesh.token);
  });
});

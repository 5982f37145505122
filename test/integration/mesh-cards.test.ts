import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { newCard } from '../../cards/registry/new-card.ts';
import { composedMesh, type ComposedMesh } from '../support/composed-mesh.ts';
import { meshHome, type MeshHome } from '../support/mesh-home.ts';
import { eventually } from '../support/mesh-process.ts';

let home: MeshHome;
let composed: ComposedMesh;
beforeEach(async () => {
  home = await meshHome();
});
afterEach(async () => {
  await composed.mesh.stop();
  home.remove();
});

/** Commits what was changed, and waits until the mesh serves it. */
async function live(): Promise<void> {
  const commit = home.commit();
  await eventually(
    () => composed.mesh.registry.current().commit,
    (served) => served === commit,
  );
}

const noFields = { rehearsal: undefined, queue: undefined };

describe('a mesh whose Cards change', { timeout: 30_000 }, () => {
  it('routes by the router of the newest Cards, also when that one was something else before', async () => {
    await home.addCard('novice');
    home.commit();
    composed = await composedMesh(home.dir);
    composed.mesh.start({ keeper: false });
    const before = await composed.submit('novice', 'play');
    await eventually(
      () => composed.stateOf(before),
      ({ phase }) => phase === 'done',
    );
    home.git('rm', '-q', 'cards/router.card.yaml');
    home.changeCard('novice', { ...noFields, runtime: 'router', mayCall: ['*'] });
    await live();

    const wish = { target: 'auto', constraints: { skill: 'rehearse' }, score: 2 };
    const uid = await composed.submit('novice', 'say hello', wish);
    const { agentId } = await eventually(
      () => composed.stateOf(uid),
      (state) => state.agentId !== undefined,
    );
    expect(agentId).toBe('understudy');
    const routed = (await composed.logOf(uid)).events.find(({ kind }) => kind === 'routed');
    expect(routed?.by.id).toBe('novice');
    const target = { kind: 'constraints', need: { skill: 'rehearse' } };
    const dryRun = await composed.rpc('novice', 'cardmesh/route', { target, text: 'say hello' });
    expect(dryRun.error).toBeUndefined();
  });

  it('lets a run end whose agent took a runtime that is not served, and takes no other', async () => {
    await home.addCard('novice', { rehearsal: { script: [{ answer: 'Played.', delay: '3s' }] } });
    home.commit();
    composed = await composedMesh(home.dir);
    composed.mesh.start({ keeper: false });
    const begun = await composed.submit('novice', 'play');
    await eventually(
      () => composed.stateOf(begun),
      ({ phase }) => phase === 'working',
    );
    home.changeCard('novice', { ...noFields, runtime: 'observer' });
    await live();
    const next = await composed.submit('novice', 'play again');
    await eventually(
      () => composed.stateOf(begun),
      ({ phase }) => phase === 'done',
    );
    expect(await composed.stateOf(begun)).toMatchObject({ attempts: 1 });
    expect(await composed.stateOf(next)).toMatchObject({ phase: 'ready', version: 1 });
    const why = await composed.rpc('novice', 'cardmesh/why', { taskId: next });
    expect(JSON.stringify(why.result)).toContain('runtime observer is not served by this build');
    expect(JSON.stringify(why.result)).toContain('a loop outside the mesh: mesh task next');
  });
});

describe('a new agent, as `mesh cards new` writes it', { timeout: 30_000 }, () => {
  it.each(['none', 'external'])('answers as it stands, with effects %s', async (effects) => {
    const stateDir = join(home.dir, 'state');
    await newCard({ home: home.dir, stateDir, id: 'night-report', runtime: 'runner' });
    home.changeCard('night-report', { effects, trust: 'trusted' });
    home.commit();
    composed = await composedMesh(home.dir);
    composed.mesh.start({ keeper: false });
    const uid = await composed.submit('night-report', 'What was it like?');
    const { outcome } = await eventually(
      () => composed.stateOf(uid),
      ({ phase }) => phase === 'done' || phase === 'dead-letter' || phase === 'needs-review',
    );
    expect(outcome?.summary).toBe('The task was: What was it like?');
  });
});

describe('the way back into the mesh', { timeout: 30_000 }, () => {
  const program = `
    let packet = '';
    process.stdin.on('data', (piece) => (packet += piece)).on('end', () => {
      const { run_id } = JSON.parse(packet);
      const summary = process.env.MESH_URL ?? 'none';
      process.stdout.write(JSON.stringify({ run_id, status: 'completed', summary }));
    });`;

  it.each([
    ['is the front', () => 'http://front.test', 'http://front.test'],
    ['is none where no front serves the others', () => undefined, 'none'],
  ])('of a run %s', async (_what, publicUrl, told) => {
    await home.addCard('caller', {
      ...{ runtime: 'runner', rehearsal: undefined, mayCall: ['*'], progress: true },
      runner: { command: ['node', '-e', program], timeout: '20s' },
    });
    home.commit();
    composed = await composedMesh(home.dir, { publicUrl });
    composed.mesh.start({ keeper: false });
    const uid = await composed.submit('caller', 'which way?');
    const { outcome } = await eventually(
      () => composed.stateOf(uid),
      ({ phase }) => phase === 'done' || phase === 'dead-letter',
    );
    expect(outcome?.summary).toBe(told);
  });

  it.each([
    [
      'reaches another agent over the front',
      () => 'http://front.test',
      /said: \[rehearsal\] Hello/,
    ],
    ['says that there is no front to reach one', () => undefined, /NO_ADDRESS.*mesh up/],
  ])('of an agent %s', async (_what, publicUrl, told) => {
    const submit = { agent: 'understudy', text: 'say hello' };
    await home.addCard('boss', {
      ...{ mayCall: ['understudy'], rehearsal: { script: [{ answer: 'I asked.', submit }] } },
    });
    home.commit();
    composed = await composedMesh(home.dir, { publicUrl });
    composed.mesh.start({ keeper: false });
    const uid = await composed.submit('boss', 'delegate');
    const { outcome } = await eventually(
      () => composed.stateOf(uid),
      ({ phase }) => phase === 'done',
    );
    expect(outcome?.artifacts[0]?.text).toMatch(told);
  });
});

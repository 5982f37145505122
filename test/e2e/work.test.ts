import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { signCall, type PrivateJwk } from '../../agents/auth/sign.ts';
import { systemClock } from '../../fabric/telemetry/system-clock.ts';
import { errorOf, message, rpc, taskOf } from '../support/edge-calls.ts';
import { meshHome, type MeshHome } from '../support/mesh-home.ts';
import { eventually, startMesh, type MeshProcess } from '../support/mesh-process.ts';
import { board, findTasks, submit, taskState } from '../support/mesh-tasks.ts';

let home: MeshHome;
let mesh: MeshProcess;

/** One deeper than the cap of six: the last of them is never reached. */
const levels = 8;

beforeAll(async () => {
  home = await meshHome();
  const asks = (agent: string) => ({ agent, text: 'please help' });
  home.changeCard('understudy', {
    mayCall: ['helper', 'echo'],
    rehearsal: {
      script: [
        { when: 'delegate', answer: 'I had help.', submit: asks('helper') },
        { when: 'forbidden', answer: 'I tried.', submit: asks('picky') },
        { when: 'circle', answer: 'I tried.', submit: asks('echo') },
        { when: 'take your time', answer: 'Late.', delay: '4s' },
        { answer: 'Played.' },
      ],
    },
  });
  await home.addCard('helper', { rehearsal: { script: [{ answer: 'Here is my help.' }] } });
  await home.addCard('echo', {
    mayCall: ['understudy'],
    rehearsal: { script: [{ answer: 'I call back.', submit: asks('understudy') }] },
  });
  await home.addCard('picky', { rehearsal: { script: [{ when: 'fit', answer: 'It fits.' }] } });
  for (let level = 0; level < levels; level++) {
    const next = `level-${level + 1}`;
    const line = { answer: `At level ${level}.`, submit: { agent: next, text: 'deeper' } };
    const last = { answer: 'At the bottom.' };
    await home.addCard(`level-${level}`, {
      mayCall: level + 1 < levels ? [next] : [],
      rehearsal: { script: [level + 1 < levels ? line : last] },
    });
  }
  home.commit();
  mesh = await startMesh({ home: home.dir });
}, 60_000);
afterAll(async () => {
  await mesh.stop('SIGKILL');
  home.remove();
});

const phaseOf = (uid: string) => async () => (await taskState(mesh, uid)).phase;
const isDone = (phase: string) => phase === 'done';
const addressOf = (agentId: string) => `${mesh.url}/agents/${agentId}/`;

/** A call of an agent of this home, signed with the key that lies in its state. */
async function signedBy(
  agentId: string,
  audience: string,
  run?: { taskId: string; fence: number },
) {
  const file = join(home.dir, 'state/keys', `${agentId}.jwk.json`);
  const privateJwk = JSON.parse(await readFile(file, 'utf8')) as PrivateJwk;
  return signCall({ agentId, privateJwk, audience, clock: systemClock, ...(run ? { run } : {}) });
}

/** A person asks and waits; the answer's whole text. */
async function answerOf(agentId: string, text: string): Promise<string> {
  const sent = await rpc(
    addressOf(agentId),
    'SendMessage',
    { message: message(text) },
    { token: mesh.token },
  );
  const task = taskOf(sent);
  expect(task.status.state).toBe('TASK_STATE_COMPLETED');
  return task.artifacts?.[0]?.parts[0]?.text ?? '';
}

describe('async work', { timeout: 120_000 }, () => {
  it('is put on the board, drained by a worker, and closed by its submitter, never by its producer', async () => {
    const submitted = await mesh.mesh('submit', 'repo-report', `Report on ${home.dir}`, '--json');
    expect([submitted.code, submitted.stderr]).toEqual([0, '']);
    const { id: uid } = taskOf({ jsonrpc: '2.0', id: 1, result: JSON.parse(submitted.stdout) });
    await eventually(phaseOf(uid), isDone, 30_000);
    const done = await taskState(mesh, uid);
    expect(done.task.mode).toBe('async');
    expect(done.outcome?.artifacts[0]?.text).toContain('2 commits (whole history)');

    const verdict = { taskId: uid, verdict: 'verified', note: 'It is fine, says who made it.' };
    const own = await rpc(addressOf('repo-report'), 'cardmesh/verify', verdict, {
      token: await signedBy('repo-report', 'repo-report'),
    });
    expect(errorOf(own)).toMatchObject({ reason: 'NOT_VERIFIER', domain: 'cardmesh' });
    expect((await taskState(mesh, uid)).phase).toBe('done');

    const closed = await mesh.mesh('verify', uid.slice(0, 8), '--note', 'I read it');
    expect([closed.code, closed.stderr]).toEqual([0, '']);
    const verified = await taskState(mesh, uid);
    expect(verified).toMatchObject({ phase: 'verified', verdict: { by: 'operator' } });
  });

  it('fails on its tier with exactly one question, and nothing runs until it is answered', async () => {
    const uid = await submit(mesh, 'picky', 'nothing of its script');
    await eventually(phaseOf(uid), (phase) => phase === 'input-required');
    // The same worker has looked at its queue again by the time a later task of it is done.
    const later = await submit(mesh, 'picky', 'this is fit');
    await eventually(phaseOf(later), isDone);
    const { events } = (await board(mesh, { op: 'read', uid })) as { events: { kind: string }[] };
    const kinds = events.map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind === 'asked')).toHaveLength(1);
    expect(kinds.filter((kind) => kind === 'claimed')).toHaveLength(1);
    const asked = await taskState(mesh, uid);
    expect(asked.question).toMatchObject({
      kind: 'escalation',
      to: ['operator'],
      options: ['retry', 'wider-tier', 'cancel'],
    });
    const why = await mesh.mesh('why', uid);
    expect(why.stdout).toContain('operator');
    expect((await mesh.mesh('answer', uid, 'cancel')).code).toBe(0);
    expect((await taskState(mesh, uid)).phase).toBe('canceled');
  });
});

describe('delegation', { timeout: 120_000 }, () => {
  it('waits for its child, and the family shows who did what for whom', async () => {
    const uid = await submit(mesh, 'understudy', 'delegate this');
    await eventually(phaseOf(uid), isDone);
    const [child] = await findTasks(mesh, { parent: uid });
    expect(child).toMatchObject({
      agentId: 'helper',
      phase: 'done',
      contextId: uid,
      task: {
        provenance: { submitter: 'understudy', interlocutor: 'operator', parent: uid, depth: 1 },
      },
    });
    const parent = await taskState(mesh, uid);
    expect(parent.outcome?.artifacts[0]?.text).toContain('Here is my help.');
    const shown = await mesh.mesh('show', uid);
    expect(shown.stdout).toContain(child?.taskId.slice(0, 8));
    expect(shown.stdout).toMatch(/helper/);
  });

  it('goes on without waiting by message/send under its own key, and the child names its parent', async () => {
    const uid = await submit(mesh, 'understudy', 'take your time');
    await eventually(phaseOf(uid), (phase) => phase === 'working');
    const { fence } = (await taskState(mesh, uid)).claim!;
    const sent = await rpc(
      addressOf('helper'),
      'message/send',
      {
        message: {
          kind: 'message',
          messageId: `child-of-${uid}`,
          role: 'user',
          parts: [{ kind: 'text', text: 'in the background' }],
        },
        configuration: { blocking: false },
      },
      {
        token: await signedBy('understudy', 'helper', { taskId: uid, fence }),
        version: '0.3',
      },
    );
    expect(sent.error).toBeUndefined();
    const { id, status } = sent.result as { id: string; status: { state: string } };
    expect(['submitted', 'working']).toContain(status.state);
    await eventually(phaseOf(id), isDone);
    expect((await taskState(mesh, id)).task.provenance).toMatchObject({
      submitter: 'understudy',
      parent: uid,
    });
    await eventually(phaseOf(uid), isDone);
    // The run is over, and its credential with it.
    const late = await rpc(
      addressOf('helper'),
      'SendMessage',
      { message: message('one more') },
      { token: await signedBy('understudy', 'helper', { taskId: uid, fence }) },
    );
    expect(late.status).toBe(401);
  });

  it('is refused where the Card does not list the other agent', async () => {
    const text = await answerOf('understudy', 'forbidden fruit');
    expect(text).toContain('picky was not reached (TRUST_DENIED)');
    expect(await findTasks(mesh, { agentId: 'picky', principal: 'understudy' })).toEqual([]);
  });

  it('is refused in a circle', async () => {
    const text = await answerOf('understudy', 'go in a circle');
    expect(text).toContain('I call back.');
    expect(text).toContain('understudy was not reached (CYCLE_DETECTED)');
  });

  it('is refused below the sixth level', async () => {
    const text = await answerOf('level-0', 'down');
    expect(text).toContain('At level 6.');
    expect(text).toContain('level-7 was not reached (DEPTH_EXCEEDED)');
    expect(await findTasks(mesh, { agentId: 'level-7' })).toEqual([]);
  });
});

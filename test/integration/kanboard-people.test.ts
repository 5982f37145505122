import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { RunEnd } from '../../fabric/ports/run-task.ts';
import { taskIdOf } from '../../fabric/queue/submit.ts';
import { AgentId } from '../../fabric/domain/ids.ts';
import { columnOf, type BoardProject } from '../../fabric/kanboard/board-projects.ts';
import { asApplication, boardPerson, type BoardPerson } from '../support/board-people.ts';
import { newBoardId } from '../support/kanboard-board.ts';
import { openPeopleMesh, until, type PeopleMesh } from '../support/people-mesh.ts';
import { person } from '../support/queue-mesh.ts';
import { startKanboard, type RunningKanboard } from '../support/services/kanboard.ts';
import { describeWith } from '../support/services/service.ts';

// Each act is some requests of two processes to a Kanboard with one worker.
vi.setConfig({ testTimeout: 60_000 });

const done: RunEnd = { kind: 'done', outcome: { summary: 'Three risks.', artifacts: [] } };

describeWith('kanboard', 'people at a Kanboard that two processes watch', () => {
  let kanboard: RunningKanboard;
  let mesh: PeopleMesh;
  const boardId = newBoardId();
  let adolf: BoardProject;
  let alvis: BoardPerson;
  let berta: BoardPerson;

  beforeAll(async () => {
    kanboard = await startKanboard({ database: 'sqlite' });
    mesh = await openPeopleMesh(kanboard, boardId);
    adolf = await mesh.project('adolf');
    [alvis, berta] = [await boardPerson(kanboard, 'alvis'), await boardPerson(kanboard, 'berta')];
    for (const person of [alvis, berta]) await person.joins(adolf);
  });
  afterAll(async () => {
    await mesh.stop();
    await kanboard.stop();
  });

  const adoptedAs = (id: number) =>
    taskIdOf(mesh.first.deps, {
      principal: person('alvis'),
      target: { kind: 'agent', agentId: AgentId.parse('adolf') },
      idempotencyKey: `kanboard:${boardId}:${adolf.projectId}/${id}`,
    });
  const inReady = async (task: { title: string; description?: string }) => {
    const id = await alvis.creates(adolf, { ...task, column_id: columnOf(adolf, 'ready') });
    await mesh.taken(id, 1);
    return id;
  };
  const isIn = async (id: number, column: 'waiting' | 'ready' | 'working' | 'done') =>
    until(async () => expect((await mesh.row(id)).columnId).toBe(columnOf(adolf, column)));

  it('makes a task of what a person drags to Ready, under its number, and leaves the rest alone', async () => {
    const wanted = { title: 'Audit it', description: 'All of it.\r\nToday.', priority: 1 };
    const id = await alvis.creates(adolf, wanted);
    await mesh.taken(id, 1);
    expect((await mesh.row(id)).reference).toBe('');
    await alvis.drags(adolf, id, 'ready');
    await mesh.taken(id, 2);

    const state = await mesh.state(id);
    expect(state).toMatchObject({ phase: 'ready', version: 1, agentId: 'adolf', priority: 1 });
    expect(state.task).toMatchObject({
      intent: { title: 'Audit it', body: 'All of it.\r\nToday.' },
      verification: 'submitter',
      provenance: { submitter: 'alvis', interlocutor: 'alvis' },
    });
    const log = await mesh.first.deps.board.read(state.taskId);
    expect(log?.ref?.boardTaskId).toBe(`${adolf.projectId}/${id}`);
    await isIn(id, 'ready');
  });

  it('holds what is dragged out of Ready, and lets it in again', async () => {
    const id = await inReady({ title: 'Hold it' });
    await alvis.drags(adolf, id, 'waiting');
    await mesh.taken(id, 2);
    expect((await mesh.state(id)).phase).toBe('paused');
    await until(async () => expect(await mesh.tags(id)).toEqual(['paused']));
    await alvis.drags(adolf, id, 'ready');
    await mesh.taken(id, 3);
    expect(await mesh.kinds(id)).toEqual(['submitted', 'paused', 'resumed']);
  });

  it('takes back a run that is dragged out of Work in progress', async () => {
    const id = await inReady({ title: 'Take it back' });
    const run = await mesh.begin(id);
    await isIn(id, 'working');
    await alvis.drags(adolf, id, 'waiting');
    await mesh.taken(id, 2);
    expect(await mesh.state(id)).toMatchObject({ phase: 'working', revokeTo: 'paused' });
    await run.end({ kind: 'stopped' });
    await until(async () => expect((await mesh.state(id)).phase).toBe('paused'));
    await isIn(id, 'waiting');
    expect((await mesh.kinds(id)).filter((kind) => kind === 'revokeRequested')).toHaveLength(1);
  });

  it('puts back what is dragged to Done without a result, and says why once', async () => {
    const id = await inReady({ title: 'Not done' });
    await alvis.drags(adolf, id, 'done');
    await mesh.taken(id, 2);
    await isIn(id, 'ready');
    const said = await mesh.said(id);
    expect(said).toHaveLength(1);
    expect(said[0]).toMatch(/^↩ \*\*alvis\*\*, this was not done\. Done takes a result/);
    expect(await mesh.kinds(id)).toEqual(['submitted']);
  });

  it('verifies by closing, and has the closed one done anew when it is reopened', async () => {
    const id = await inReady({ title: 'Close it' });
    await (await mesh.begin(id)).end(done);
    await isIn(id, 'done');
    await alvis.closes(id);
    await mesh.taken(id, 2);
    expect((await mesh.state(id)).phase).toBe('verified');
    await until(async () => {
      expect((await mesh.row(id)).isOpen).toBe(false);
      expect(await mesh.said(id)).toContainEqual('✔ Verified by **alvis**.');
    });

    await alvis.comments(id, 'It lacks a table.');
    await alvis.reopens(id);
    await mesh.taken(id, 4);
    const { links, phase } = await mesh.state(id);
    expect([phase, links.map(({ relation }) => relation)]).toEqual(['verified', ['rework']]);
    const rework = await mesh.first.deps.board.read(links[0]!.taskId);
    expect(rework?.state.task).toMatchObject({
      correction: 'It lacks a table.',
      provenance: { relation: 'rework', submitter: 'alvis' },
    });
    await until(async () => expect((await mesh.row(id)).isOpen).toBe(false));
  });

  it('ends by closing what was not done, and refuses that to others', async () => {
    const id = await inReady({ title: 'End it' });
    await berta.closes(id);
    await mesh.taken(id, 2);
    await until(async () => expect((await mesh.row(id)).isOpen).toBe(true));
    expect((await mesh.state(id)).phase).toBe('ready');
    expect(await mesh.said(id)).toEqual([expect.stringContaining('**berta**, this was not done')]);
    await alvis.closes(id);
    await mesh.taken(id, 3);
    expect((await mesh.state(id)).phase).toBe('canceled');
    await until(async () => expect(await mesh.tags(id)).toEqual(['canceled']));
  });

  it('refuses a result that is dragged back, with the newest words as what it lacked', async () => {
    const id = await inReady({ title: 'Do it better' });
    await (await mesh.begin(id)).end(done);
    await isIn(id, 'done');
    await alvis.comments(id, 'Wrong.', 'The third risk is none.');
    await alvis.drags(adolf, id, 'ready');
    await mesh.taken(id, 4);
    const { phase, links, reworkedAs, verdict } = await mesh.state(id);
    expect([phase, verdict?.note]).toEqual(['refused', 'The third risk is none.']);
    expect(links.map(({ taskId }) => taskId)).toEqual([reworkedAs]);
    const rework = await mesh.first.deps.board.read(reworkedAs!);
    expect(rework?.state).toMatchObject({
      phase: 'ready',
      task: { intent: { title: 'Rework: Do it better' }, correction: 'The third risk is none.' },
    });
    expect(rework?.ref?.boardTaskId).not.toBe(`${adolf.projectId}/${id}`);
    await isIn(id, 'done');
    await until(async () => expect((await mesh.row(id)).isOpen).toBe(false));
  });

  it('takes an answer from whom it asked only, once, and keeps remarks', async () => {
    const id = await inReady({ title: 'Ask me' });
    await alvis.comments(id, 'The log is on the second host.');
    await mesh.taken(id, 2);
    expect((await mesh.state(id)).notes).toMatchObject([
      { by: 'alvis', text: 'The log is on the second host.' },
    ]);
    const end: RunEnd = {
      kind: 'asked',
      question: { kind: 'question', to: 'submitter', text: 'Which one?', options: [] },
    };
    await (await mesh.begin(id)).end(end);
    const { decisionId } = (await mesh.state(id)).question!;

    await berta.comments(id, '/answer the first', 'Not mine.');
    await mesh.taken(id, 4);
    expect((await mesh.state(id)).phase).toBe('input-required');
    const refused = (await mesh.said(id)).filter((text) => text.startsWith('↩'));
    expect(refused).toEqual([expect.stringMatching(/\*\*berta\*\*.* an answer of \*\*alvis\*\*/)]);

    await alvis.comments(id, 'the second');
    await mesh.taken(id, 5);
    expect(await mesh.state(id)).toMatchObject({
      phase: 'ready',
      decisions: [{ decisionId, value: 'the second', by: 'alvis' }],
    });
    await alvis.comments(id, `/answer ${decisionId} the second`, `/answer ${decisionId} the first`);
    await mesh.taken(id, 7);
    expect((await mesh.state(id)).decisions).toHaveLength(1);
    const late = (await mesh.said(id)).filter((text) => text.startsWith('↩ **alvis**'));
    expect(late).toEqual([expect.stringContaining('an answer is not changed')]);
  });

  it('cancels on /cancel, with the reason, and knows no other words', async () => {
    const id = await inReady({ title: 'Stop it' });
    await alvis.comments(id, '/stop it', '/cancel not needed any more');
    await mesh.taken(id, 3);
    expect((await mesh.state(id)).phase).toBe('canceled');
    const said = (await mesh.said(id)).join('\n');
    expect(said).toContain('The mesh knows `/answer`');
    await until(async () =>
      expect(await mesh.said(id)).toContainEqual('⏹ Canceled by **alvis**: not needed any more'),
    );
  });

  it('takes fields and wording until somebody works on it, and puts back its reference', async () => {
    const id = await inReady({ title: 'Change me', description: 'First words.' });
    const change = { score: 5, priority: 2, date_due: '2030-01-02 03:04', title: 'Changed' };
    await alvis.edits(id, { ...change, description: 'Other words.' });
    await mesh.taken(id, 2);
    expect(await mesh.state(id)).toMatchObject({
      ...{ score: 5, priority: 2, deadlineAtMs: Date.UTC(2030, 0, 2, 3, 4) },
      task: { intent: { title: 'Changed', body: 'Other words.' } },
    });
    const { reference } = await mesh.row(id);
    await alvis.edits(id, { reference: 'mine' });
    await mesh.taken(id, 3);
    expect((await mesh.row(id)).reference).toBe(reference);

    await alvis.edits(id, { score: 4 });
    await mesh.taken(id, 4);
    await until(async () => expect((await mesh.row(id)).score).toBe(5));
    await mesh.begin(id);
    await alvis.edits(id, { title: 'Too late' });
    await mesh.taken(id, 5);
    expect((await mesh.state(id)).task.intent.title).toBe('Changed');
    const said = (await mesh.said(id)).filter((text) => text.startsWith('↩'));
    expect(said.map((text) => /By the field|A score is|A run has begun/.exec(text)?.[0])).toEqual([
      'By the field',
      'A score is',
      'A run has begun',
    ]);
  });

  it('asks for the size of what the router is to place, and takes the score as the answer', async () => {
    const shared = await mesh.project('shared');
    for (const one of [shared, await mesh.project('router')]) await alvis.joins(one);
    const column_id = columnOf(shared, 'ready');
    const id = await alvis.creates(shared, { title: 'Whoever can', column_id });
    await mesh.taken(id, 1);
    expect(await mesh.state(id)).toMatchObject({
      ...{ phase: 'input-required', question: { kind: 'rating', to: ['alvis'] } },
      task: { target: { kind: 'auto' } },
    });
    await until(async () => expect(await mesh.tags(id)).toEqual(['blocked']));
    await alvis.edits(id, { score: 3 });
    await mesh.taken(id, 2);
    expect(await mesh.state(id)).toMatchObject({ phase: 'ready', score: 3 });
    expect(await mesh.kinds(id)).toEqual(['submitted', 'asked', 'answered']);
  });

  it('knows nobody without a human Card, and takes nothing of an agent’s account', async () => {
    const mallory = await boardPerson(kanboard, 'mallory');
    await mallory.joins(adolf);
    const own = await mallory.creates(adolf, {
      title: 'Mine',
      column_id: columnOf(adolf, 'ready'),
    });
    const id = await inReady({ title: 'Not theirs' });
    await mallory.drags(adolf, id, 'waiting');
    await mallory.comments(id, 'Just a word.');
    await mesh.taken(id, 3);
    await mesh.taken(own, 1);
    expect((await mesh.state(id)).phase).toBe('ready');
    expect((await mesh.row(own)).reference).toBe('');
    for (const of of [own, id]) {
      expect(await mesh.said(of)).toEqual([
        expect.stringContaining('**mallory** is not known here'),
      ]);
    }
    await isIn(id, 'ready');
  });

  it('takes nothing from more acts than it can read: what was dragged stands where its log says', async () => {
    const own = newBoardId();
    const before = await openPeopleMesh(kanboard, own, 1);
    const project = await before.project('adolf');
    await alvis.joins(project);
    const column_id = columnOf(project, 'ready');
    const id = await alvis.creates(project, { title: 'In the crowd', column_id });
    await before.taken(id, 1);
    await before.stop();
    await alvis.drags(project, id, 'waiting');
    const crowd = await alvis.creates(project, { title: 'The crowd' });
    await alvis.comments(crowd, ...Array.from({ length: 52 }, (_, n) => `word ${n}`));

    const after = await openPeopleMesh(kanboard, own, 1);
    await until(async () => {
      expect((await after.row(id)).columnId).toBe(column_id);
      expect(await after.said(id)).toContainEqual(expect.stringMatching(/^More was done/));
    });
    expect((await after.state(id)).phase).toBe('ready');
    await after.stop();
  });

  it('ends an adoption whose process died after it had set the reference', async () => {
    const id = await alvis.creates(adolf, { title: 'Half made', description: 'Text.' });
    await mesh.taken(id, 1);
    const reference = `mesh:${adoptedAs(id)}`;
    await asApplication(kanboard)('updateTask', { id, reference });
    await asApplication(kanboard)('moveTaskToProject', {
      ...{ task_id: id, project_id: adolf.projectId, column_id: columnOf(adolf, 'ready') },
    });
    // Whoever sees it next; its log begins, under the number that it has.
    await until(async () => expect((await mesh.state(id)).phase).toBe('ready'));
    expect((await mesh.state(id)).task.provenance.submitter).toBe('alvis');
    expect(await mesh.kinds(id)).toEqual(['submitted']);
  });
});

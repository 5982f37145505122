import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { kanboardPages, type KanboardPages } from '../support/kanboard-pages.ts';
import { meshHome, type MeshHome } from '../support/mesh-home.ts';
import { eventually, startMesh, type MeshProcess } from '../support/mesh-process.ts';
import { findTasks, submit, taskState } from '../support/mesh-tasks.ts';
import { launchChromium } from '../support/services/chromium.ts';
import { startKanboard, type RunningKanboard } from '../support/services/kanboard.ts';
import { describeWith } from '../support/services/service.ts';

const coder = 'claude-coder';
const inbox = 'Inbox of operator';
/** A folder for pictures, where somebody wants them; those of the manual are made by it. */
const shots = process.env['MESH_SCREENSHOTS'];
if (!shots) process.stderr.write('skipped: pictures of the board need MESH_SCREENSHOTS=<folder>\n');

describeWith('kanboard', 'a person at the board', () => {
  describeWith('chromium', 'in Kanboard’s own pages', drive);
});

function drive(): void {
  let home: MeshHome;
  let kanboard: RunningKanboard;
  let mesh: MeshProcess;
  let browser: Browser;
  let page: Page;
  let pages: KanboardPages;

  beforeAll(async () => {
    [home, kanboard, browser] = await Promise.all([
      meshHome(),
      startKanboard({ database: 'sqlite' }),
      launchChromium(),
    ]);
    const settings = { url: kanboard.baseUrl, poll: '1s' };
    home.write('mesh.yaml', home.read('mesh.yaml') + stringify({ board: { kanboard: settings } }));
    home.commit();
    mesh = await startMesh({ home: home.dir, env: { MESH_KANBOARD_TOKEN: kanboard.token } });
    await run('board', 'setup', '--json');
    page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    page.setDefaultTimeout(15_000);
    pages = kanboardPages(page, kanboard.baseUrl);
    const password = home.read('state/keys/kanboard-users/operator.password').trim();
    await pages.login('operator', password);
  }, 90_000);
  afterAll(async () => {
    await browser.close();
    await mesh.stop('SIGKILL');
    home.remove();
    await kanboard.stop();
  });

  const run = async (...words: string[]) => {
    const end = await mesh.mesh(...words);
    expect([words, end.code, end.code === 0 ? '' : end.stderr]).toEqual([words, 0, '']);
    return end;
  };
  /** As a loop outside the mesh does; gives the fence of its claim. */
  const take = async (uid: string) => {
    const { stderr } = await run('task', 'take', uid, '--agent', coder);
    return /fence (\d+)/u.exec(stderr)?.[1] ?? '';
  };
  const askGate = async (uid: string, question: string) => {
    const gate = ['--to', 'human', '--option', 'approve', 'reject'];
    await run('task', 'ask', uid, question, '--fence', await take(uid), ...gate);
  };
  const finish = async (uid: string, note: string) =>
    run('task', 'done', uid, '--fence', await take(uid), '--note', note);
  const phaseOf = async (uid: string) => (await taskState(mesh, uid)).phase;
  const inPhase = (uid: string, phase: string) =>
    eventually(
      () => phaseOf(uid),
      (now) => now === phase,
      20_000,
    );
  const inColumn = (title: string, column: string) =>
    eventually(
      () => pages.columnOf(title),
      (now) => now === column,
      20_000,
    );
  const shoot = (name: string) => page.screenshot({ path: join(shots ?? '', `${name}.png`) });

  it('finds the queues and their own inbox on the dashboard', async () => {
    const projects = await pages.projects();
    expect(projects).toEqual(expect.arrayContaining(['understudy', coder, inbox]));
  }, 60_000);

  it('has a task done that they make and drag to Ready, and verifies it by closing it', async () => {
    const title = 'Say hello to the new colleagues';
    await pages.openBoard('understudy');
    await pages.createTask('Backlog', title, 'One line is enough.');
    await pages.drag(title, 'Ready');
    const [task] = await eventually(
      () => findTasks(mesh, { agentId: 'understudy', phases: ['done'] }),
      (done) => done.length > 0,
      20_000,
    );
    expect(task?.task).toMatchObject({
      intent: { title, body: 'One line is enough.' },
      provenance: { submitter: 'operator' },
    });
    await inColumn(title, 'Done');
    await pages.openTask(title);
    const comments = await eventually(
      () => pages.comments(),
      (shown) => shown.some((text) => text.startsWith('✅')),
      20_000,
    );
    expect(comments.at(-1)).toMatch(
      /^✅ Done, in the words of understudy:\s+\[rehearsal\] Hello\..*\s+Not verified yet\./u,
    );
    await pages.closeTask();
    await inPhase(task?.taskId ?? '', 'verified');
    expect((await run('show', task?.taskId ?? '')).stdout).toContain('verified');
  }, 60_000);

  it('lets blocked work go on by a drag in the inbox', async () => {
    const uid = await submit(mesh, coder, 'Tidy the changelog');
    await askGate(uid, 'May I drop the entries before 1.0?');
    expect(await phaseOf(uid)).toBe('input-required');
    const item = 'Approve or reject: Tidy the changelog';
    await pages.openBoard(inbox);
    await inColumn(item, 'Waiting on me');
    await pages.drag(item, 'Approved');
    await inPhase(uid, 'ready');
    await finish(uid, 'They are gone.');
    const { decisions, phase } = await taskState(mesh, uid);
    expect([phase, decisions]).toMatchObject(['done', [{ value: 'approve', by: 'operator' }]]);
  }, 60_000);

  it.runIf(shots)(
    'is shown in pictures',
    async () => {
      const titles = [
        'Fix the flaky login test',
        'Release 2.4 of the exporter',
        'Stream the import instead of loading it',
        'Add --quiet to the exporter',
        'Update the licence headers',
      ];
      const uids = await Promise.all(titles.map((title) => submit(mesh, coder, title)));
      const [fixed = '', released = '', streamed = ''] = uids;
      await finish(fixed, 'It raced with the clean-up. It now waits for the session to end.');
      await askGate(released, 'All 214 checks pass. Shall I tag v2.4 and publish it?');
      await take(streamed);
      const greeted = await submit(mesh, 'understudy', 'Say hello to the auditors');
      await inPhase(greeted, 'done');

      await pages.openBoard(coder);
      await pages.createTask('Backlog', 'Sketch the plug-in interface', 'After the release.');
      await inColumn('Fix the flaky login test', 'Done');
      await inColumn('Stream the import instead of loading it', 'Work in progress');
      await inColumn('Update the licence headers', 'Ready');
      await shoot('queue');
      await pages.openBoard(inbox);
      await inColumn(`Approve or reject: ${titles[1]}`, 'Waiting on me');
      await inColumn('Check the result: Say hello to the auditors', 'Waiting on me');
      await shoot('inbox');

      await run('answer', released, 'approve', '--note', 'After lunch, please.');
      await finish(released, 'v2.4 is tagged and published.\n\n- 214 checks pass\n- 3 new options');
      await pages.openBoard(coder);
      await inColumn(titles[1] ?? '', 'Done');
      await pages.openTask(titles[1] ?? '');
      await eventually(
        () => pages.comments(),
        (shown) => shown.some((text) => text.startsWith('✅')),
        20_000,
      );
      await page.evaluate("document.querySelector('.comments').scrollIntoView()");
      await shoot('task');
    },
    90_000,
  );
}

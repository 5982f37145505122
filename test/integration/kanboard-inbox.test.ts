import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { roleOf, type ColumnRole } from '../../fabric/kanboard/board-projects.ts';
import type { TaskId } from '../../fabric/domain/ids.ts';
import type { BoardTask } from '../../fabric/kanboard/kanboard-rows.ts';
import { answerQuestion } from '../../fabric/queue/answer.ts';
import { cancelTask } from '../../fabric/queue/cancel.ts';
import { boardPerson, type BoardPerson } from '../support/board-people.ts';
import {
  commentsOn,
  done,
  gate,
  inboxMesh,
  itemsOf,
  linksOf,
  openQuestion,
  toAgent,
  type InboxMesh,
} from '../support/inbox-mesh.ts';
import { person } from '../support/queue-mesh.ts';
import { startKanboard, type RunningKanboard } from '../support/services/kanboard.ts';
import { describeWith } from '../support/services/service.ts';

const soon = { timeout: 20_000, interval: 150 };

// A drag and a look at what it did take a dozen requests, and Kanboard on SQLite has one PHP worker.
vi.setConfig({ testTimeout: 60_000 });

describeWith('kanboard', 'inboxes on a Kanboard', () => {
  let kanboard: RunningKanboard;
  let mesh: InboxMesh;
  let alvis: BoardPerson;
  let bea: BoardPerson;

  beforeAll(async () => {
    kanboard = await startKanboard({ database: 'sqlite' });
    alvis = await boardPerson(kanboard, 'alvis');
    bea = await boardPerson(kanboard, 'bea');
    mesh = await inboxMesh(kanboard);
  });
  afterAll(async () => {
    await mesh.close();
    await kanboard.stop();
  });

  const inbox = () => mesh.inboxOf('alvis');
  const drag = async (item: BoardTask, to: ColumnRole) =>
    alvis.drags(await inbox(), item.boardTaskId, to);
  /** The one item of a task, once it lies where it is expected. */
  const liesIn = (uid: TaskId, column: ColumnRole, isOpen: boolean, human = 'alvis') =>
    vi.waitFor(async () => {
      const project = await mesh.inboxOf(human);
      const [item, ...more] = await itemsOf(kanboard, project, uid);
      expect(more).toEqual([]);
      expect([item && roleOf(project, item.columnId), item?.isOpen]).toEqual([column, isOpen]);
      return item!;
    }, soon);
  const asked = async (end = gate) => {
    const { taskId } = await mesh.submit();
    await mesh.run(taskId, end);
    return { taskId, item: await liesIn(taskId, 'ready', true) };
  };
  const says = (item: BoardTask, count: number) =>
    vi.waitFor(async () => {
      const comments = await commentsOn(kanboard, item.boardTaskId);
      expect(comments).toHaveLength(count);
      return comments;
    }, soon);
  const becomes = (uid: TaskId, state: object) =>
    vi.waitFor(async () => expect(await mesh.stateOf(uid)).toMatchObject(state), soon);

  it('puts a gate to its person alone, whose drag lets the task go on', async () => {
    const { taskId, item } = await asked();
    const { task } = await mesh.stateOf(taskId);
    expect(item.title).toBe(`Approve or reject: ${task.intent.title}`);
    expect(item.description).toContain('> Delete the old log?');
    expect(item.description).not.toContain(taskId);
    expect(item.ownerId).toBe(alvis.userId);
    expect(await itemsOf(kanboard, await mesh.inboxOf('bea'), taskId)).toEqual([]);
    await vi.waitFor(async () => {
      const linked = await linksOf(kanboard, item.boardTaskId);
      expect(linked).toEqual([{ label: 'blocks', title: task.intent.title }]);
    }, soon);

    await drag(item, 'approved');
    const answer = { decisionId: expect.any(String) as string, value: 'approve', by: 'alvis' };
    await becomes(taskId, { phase: 'ready', decisions: [answer] });
    await liesIn(taskId, 'approved', false);
    expect(await says(item, 1)).toEqual([expect.stringContaining('**alvis** answered: approve')]);
  });

  it('puts a drag back that a question in words can’t be answered by, and takes the comment', async () => {
    const { taskId, item } = await asked(openQuestion);
    await drag(item, 'approved');
    const [why] = await says(item, 1);
    expect(why).toContain('it takes words. Comment your answer on this card.');
    await liesIn(taskId, 'ready', true);
    await drag(item, 'done');
    await says(item, 2);
    await liesIn(taskId, 'ready', true);

    await alvis.comments(item.boardTaskId, 'The one of *Monday*.');
    await becomes(taskId, { phase: 'ready', decisions: [{ value: 'The one of *Monday*.' }] });
    await liesIn(taskId, 'done', false);
  });

  it('hears nobody else and nothing late, says so once, and takes a repeat for what it is', async () => {
    const { taskId, item } = await asked();
    await bea.joins(await inbox());
    await bea.comments(item.boardTaskId, 'I wonder.', '/approve');
    expect(await says(item, 3)).toContainEqual(expect.stringContaining('Only **alvis** decides'));
    expect((await mesh.stateOf(taskId)).phase).toBe('input-required');

    await alvis.comments(item.boardTaskId, '/reject too early');
    await becomes(taskId, { decisions: [{ value: 'reject', note: 'too early' }] });
    await liesIn(taskId, 'rejected', false);
    await says(item, 5);
    await alvis.comments(item.boardTaskId, '/reject', '/approve');
    const late = await says(item, 8);
    expect(late.at(-1)).toContain('Too late: **alvis** has answered this');
    await alvis.reopens(item.boardTaskId);
    await says(item, 9);
    await liesIn(taskId, 'rejected', false);
    expect((await mesh.stateOf(taskId)).decisions).toHaveLength(1);
  });

  it('puts an item away when it is answered or needless elsewhere', async () => {
    const { taskId, item } = await asked();
    const { question } = await mesh.stateOf(taskId);
    const { decisionId } = question!;
    const said = { principal: person('alvis'), uid: taskId, decisionId, value: 'approve' };
    await answerQuestion(mesh.queue, said);
    await liesIn(taskId, 'approved', false);
    expect(await says(item, 1)).toEqual([expect.stringContaining('answered: approve')]);

    const other = await asked(openQuestion);
    await cancelTask(mesh.queue, { principal: person('alvis'), uid: other.taskId });
    await liesIn(other.taskId, 'done', false);
    expect(await says(other.item, 1)).toEqual([expect.stringContaining('was canceled')]);
  });

  it('lets a result be refused with words only, and verified by closing it', async () => {
    const { taskId, item } = await asked(done);
    expect(item.title).toMatch(/^Check the result: /);
    await drag(item, 'rejected');
    expect(await says(item, 1)).toEqual([expect.stringContaining('A refusal needs words')]);
    await liesIn(taskId, 'ready', true);
    await alvis.comments(item.boardTaskId, 'There are four.');
    await drag(item, 'rejected');
    await becomes(taskId, { phase: 'refused', verdict: { by: 'alvis', note: 'There are four.' } });
    await liesIn(taskId, 'rejected', false);

    const other = await asked(done);
    await alvis.closes(other.item.boardTaskId);
    await becomes(other.taskId, { phase: 'verified', verdict: { by: 'alvis' } });
    await liesIn(other.taskId, 'approved', false);
  });

  it('leaves what is snoozed where it is', async () => {
    const { taskId, item } = await asked();
    await drag(item, 'waiting');
    await alvis.comments(item.boardTaskId, 'Tomorrow.');
    const next = await asked();
    await liesIn(taskId, 'waiting', true);
    expect((await mesh.stateOf(taskId)).phase).toBe('input-required');
    await drag(item, 'approved');
    await becomes(taskId, { phase: 'ready' });
    await liesIn(next.taskId, 'ready', true);
  });

  it('lets a person finish their own task with words', async () => {
    const { taskId } = await mesh.submit(toAgent('bea'));
    const own = await mesh.inboxOf('bea');
    const task = await liesIn(taskId, 'ready', true, 'bea');
    await bea.drags(own, task.boardTaskId, 'done');
    expect(await says(task, 1)).toEqual([expect.stringContaining('It is done once you say')]);
    await liesIn(taskId, 'ready', true, 'bea');
    await bea.comments(task.boardTaskId, 'It is blue.');
    await bea.drags(own, task.boardTaskId, 'done');
    await becomes(taskId, { phase: 'done', producer: 'bea', outcome: { summary: 'It is blue.' } });
    await liesIn(taskId, 'done', true, 'bea');

    const { taskId: askedId } = await mesh.submit(toAgent('bea'));
    await mesh.run(askedId);
    const card = await liesIn(askedId, 'ready', true, 'bea');
    await bea.comments(card.boardTaskId, 'Green.');
    await becomes(askedId, { phase: 'ready', decisions: [{ value: 'Green.', by: 'bea' }] });
    await mesh.run(askedId);
    await becomes(askedId, { phase: 'done', outcome: { summary: 'Green.' } });
  });
});

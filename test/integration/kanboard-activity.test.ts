import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { QueueId } from '../../fabric/domain/ids.ts';
import type { PersonAct } from '../../fabric/kanboard/people/person-act.ts';
import { boardPerson, type BoardPerson } from '../support/board-people.ts';
import { newBoardId, openTestBoard, type TestBoard } from '../support/kanboard-board.ts';
import { recordingLog } from '../support/recording-log.ts';
import { startKanboard, type RunningKanboard } from '../support/services/kanboard.ts';
import { describeWith } from '../support/services/service.ts';

const queue = QueueId.parse('adolf');

describeWith('kanboard', 'what people do on a Kanboard', () => {
  let kanboard: RunningKanboard;
  let alvis: BoardPerson;
  const opened: TestBoard[] = [];
  const open = async (boardId: string, log = recordingLog()) => {
    const one = await openTestBoard(kanboard, { boardId, log, pollMs: 100 });
    opened.push(one);
    return one.board;
  };

  beforeAll(async () => {
    kanboard = await startKanboard({ database: 'sqlite' });
    alvis = await boardPerson(kanboard, 'alvis');
  });
  afterEach(async () => {
    for (const one of opened.splice(0)) await one.close();
  });
  afterAll(async () => {
    await kanboard.stop();
  });

  it('is told in order, with who did it and the task as it was then', async () => {
    const board = await open(newBoardId());
    const acts: PersonAct[] = [];
    const project = await board.parts.projects.of(queue);
    await alvis.joins(project);
    board.parts.activity.onAct((act) => Promise.resolve(void acts.push(act)));
    board.parts.poll.start();

    const id = await alvis.creates(project, { title: 'Audit it', description: 'All.' });
    await alvis.drags(project, id, 'ready');
    await alvis.comments(id, 'Please today.');
    await alvis.edits(id, { score: 5, title: 'Audit it all' });
    await alvis.closes(id);
    await alvis.reopens(id);
    await vi.waitFor(() => expect(acts).toHaveLength(6), { timeout: 5_000, interval: 30 });

    expect(acts.map(({ did }) => did)).toEqual([
      { kind: 'created' },
      { kind: 'moved', from: 'waiting', to: 'ready' },
      { kind: 'commented', commentId: expect.any(Number) as number, text: 'Please today.' },
      { kind: 'edited', fields: ['title', 'score'] },
      { kind: 'closed' },
      { kind: 'reopened' },
    ]);
    const ids = acts.map(({ activityId }) => activityId);
    expect(ids).toEqual([...ids].sort((a, b) => a - b));
    expect(acts.map(({ row }) => row.isOpen)).toEqual([true, true, true, true, false, true]);
    expect(acts[3]?.row).toMatchObject({ title: 'Audit it all', score: 5 });
    const who = { username: 'alvis', userId: alvis.userId };
    for (const act of acts) expect(act).toMatchObject({ ...who, project: { queue: 'adolf' } });
  });

  it('tells an act again that its listener failed on, and keeps back that task alone', async () => {
    const log = recordingLog();
    const board = await open(newBoardId(), log);
    const project = await board.parts.projects.of(queue);
    await alvis.joins(project);
    const told: string[] = [];
    let faults = 3;
    board.parts.activity.onAct(async ({ row, did }) => {
      if (row.title === 'stuck' && faults-- > 0) throw new Error('not now');
      told.push(`${row.title} ${did.kind}`);
      await Promise.resolve();
    });
    const stuck = await alvis.creates(project, { title: 'stuck' });
    await alvis.comments(stuck, 'later');
    await alvis.creates(project, { title: 'other' });
    board.parts.poll.start();
    await vi.waitFor(() => expect(told).toHaveLength(3), { timeout: 5_000, interval: 30 });

    expect(told).toEqual(['other created', 'stuck created', 'stuck commented']);
    expect(log.lines.filter(({ event }) => event === 'board.act-late')).toHaveLength(1);
  });

  it('reads each project for itself when one listing does not show all, and says what it missed', async () => {
    const board = await open(newBoardId());
    const loud = await board.parts.projects.of(queue);
    const quiet = await board.parts.projects.of(QueueId.parse('quiet'));
    await alvis.joins(loud);
    await alvis.joins(quiet);
    await alvis.creates(quiet, { title: 'quiet' });
    const id = await alvis.creates(loud, { title: 'loud' });
    await alvis.comments(id, ...Array.from({ length: 55 }, (_, n) => `word ${n}`));

    const titles = new Set<string>();
    const missed: string[] = [];
    board.parts.activity.onAct(
      ({ row }) => Promise.resolve(void titles.add(row.title)),
      ({ queue: of }) => Promise.resolve(void missed.push(of)),
    );
    board.parts.poll.start();
    await vi.waitFor(() => expect(titles.size).toBe(2), { timeout: 5_000, interval: 30 });
    expect(missed).toEqual(['adolf']);
  });
});

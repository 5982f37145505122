import { expect, it, vi } from 'vitest';
import { describeWith } from '../support/services/service.ts';
import { holdContest } from '../support/stress/claim-contest.ts';
import { commitsHeldUp, holdUpCommits } from '../support/stress/held-commits.ts';
import { sharedKanboard } from '../support/stress/shared-kanboard.ts';

vi.setConfig({ testTimeout: 1_800_000 });

describeWith('kanboard', 'sixteen workers that all go for the same 300 tasks', () => {
  const rivals = { processes: 4, rivalsEach: 4, tasks: 300 };
  const [sqlite, postgres] = [sharedKanboard('sqlite'), sharedKanboard('postgres')];

  it('start each once on SQLite', async () => {
    await holdContest({ ...rivals, place: await sqlite.newPlace() });
  });

  it('start each once on PostgreSQL', async () => {
    await holdContest({ ...rivals, place: await postgres.newPlace() });
  });

  it('start each once while commits of PostgreSQL are held up', async () => {
    const kanboard = await postgres.running();
    await holdUpCommits(kanboard, 1_500);
    await holdContest({ ...rivals, place: await postgres.newPlace() });
    expect(await commitsHeldUp(kanboard)).toBeGreaterThan(300);
  });
});

import { expect, it, vi } from 'vitest';
import { describeWith } from '../support/services/service.ts';
import { holdContest } from '../support/stress/claim-contest.ts';
import { commitsHeldUp, holdUpCommits } from '../support/stress/held-commits.ts';
import { sharedKanboard } from '../support/stress/shared-kanboard.ts';

vi.setConfig({ testTimeout: 60_000 });

/** Eight workers in two processes; many more of both: kanboard-claims.full.test.ts. */
describeWith('kanboard', 'workers that all go for the same task', () => {
  const rivals = { processes: 2, rivalsEach: 4 };
  const [sqlite, postgres] = [sharedKanboard('sqlite'), sharedKanboard('postgres')];

  it('start each once on SQLite', async () => {
    await holdContest({ ...rivals, place: await sqlite.newPlace(), tasks: 30 });
  });

  it('start each once on PostgreSQL', async () => {
    await holdContest({ ...rivals, place: await postgres.newPlace(), tasks: 20 });
  });

  it('start each once while commits of PostgreSQL are held up', async () => {
    const kanboard = await postgres.running();
    await holdUpCommits(kanboard, 200);
    await holdContest({ ...rivals, place: await postgres.newPlace(), tasks: 10 });
    expect(await commitsHeldUp(kanboard)).toBeGreaterThan(10);
  });
});

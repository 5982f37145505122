import { it } from 'vitest';
import { describeWith } from '../support/services/service.ts';
import { pauseKeeperProcess } from '../support/stress/paused-keeper-process.ts';
import { sharedKanboard } from '../support/stress/shared-kanboard.ts';

/** Fifty rounds on each database: kanboard-keeper.full.test.ts; a thousand in memory: simulation/. */
describeWith('kanboard', 'a keeper that is stopped between its last look and its word', () => {
  const kanboard = sharedKanboard('sqlite');

  it('changes nothing of what happened meanwhile', { timeout: 60_000 }, async () => {
    await pauseKeeperProcess(await kanboard.newPlace(), 5);
  });
});

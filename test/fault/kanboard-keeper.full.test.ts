import { describe, it } from 'vitest';
import { describeWith } from '../support/services/service.ts';
import { pauseKeeperProcess } from '../support/stress/paused-keeper-process.ts';
import { sharedKanboard } from '../support/stress/shared-kanboard.ts';

describeWith('kanboard', 'a keeper that is stopped between its last look and its word', () => {
  describe.each(['sqlite', 'postgres'] as const)('on %s', (database) => {
    const kanboard = sharedKanboard(database);

    it('changes nothing of what happened meanwhile', { timeout: 600_000 }, async () => {
      await pauseKeeperProcess(await kanboard.newPlace(), 50);
    });
  });
});

import { describe } from 'vitest';
import { describeCrashSteps } from '../support/crash-steps.ts';
import { describeWith } from '../support/services/service.ts';
import { describeKeeperSteps } from '../support/stress/keeper-steps.ts';
import { sharedKanboard } from '../support/stress/shared-kanboard.ts';

describeWith('kanboard', 'kill -9 at every step over Kanboard', () => {
  describe.each(['sqlite', 'postgres'] as const)('on %s', (database) => {
    const { newPlace: kanboard } = sharedKanboard(database);
    describeCrashSteps({ seeds: Array.from({ length: 10 }, (_, n) => 200 + n), kanboard });
    describeKeeperSteps({ kanboard });
  });
});

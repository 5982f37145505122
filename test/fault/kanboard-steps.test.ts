import { describeCrashSteps } from '../support/crash-steps.ts';
import { describeWith } from '../support/services/service.ts';
import { describeKeeperSteps } from '../support/stress/keeper-steps.ts';
import { sharedKanboard } from '../support/stress/shared-kanboard.ts';

/** A few steps on SQLite; all of them, on both databases: kanboard-steps.full.test.ts. */
describeWith('kanboard', 'kill -9 over Kanboard', () => {
  const { newPlace: kanboard } = sharedKanboard('sqlite');
  describeCrashSteps({ seeds: [1], steps: ['S2', 'S4', 'S8'], kanboard });
  describeCrashSteps({ seeds: [2], steps: ['S6'], kanboard });
  describeKeeperSteps({ steps: ['K5'], kanboard });
});

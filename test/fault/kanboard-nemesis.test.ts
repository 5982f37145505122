import { it } from 'vitest';
import { describeWith } from '../support/services/service.ts';
import { nemesisSeed, sufferNemesis } from '../support/stress/nemesis.ts';

/** A short one; the long one on both databases: kanboard-nemesis.full.test.ts. */
describeWith('kanboard', 'a mesh on Kanboard under a nemesis', () => {
  it('does nothing twice, loses nothing, and ends all', { timeout: 240_000 }, async () => {
    await sufferNemesis({
      ...{ database: 'sqlite', seed: nemesisSeed(), tasks: 16 },
      ...{ stormMs: 10_000, everyMs: 1_200, settleMs: 150_000 },
    });
  });
});

import { it } from 'vitest';
import { describeWith } from '../support/services/service.ts';
import { nemesisSeed, sufferNemesis } from '../support/stress/nemesis.ts';

/** Minutes of storm on both databases together; `MESH_NEMESIS_MINUTES`, else 30. */
const minutes = Number(process.env['MESH_NEMESIS_MINUTES'] ?? 30);
const stormMs = (minutes * 60_000) / 2;

describeWith('kanboard', `a mesh on Kanboard under a nemesis for ${minutes} minutes`, () => {
  it.each(['sqlite', 'postgres'] as const)(
    'does nothing twice, loses nothing, and ends all on %s',
    { timeout: stormMs + 900_000 },
    async (database) => {
      await sufferNemesis({
        ...{ database, seed: nemesisSeed(), tasks: Math.ceil(stormMs / 1_500) },
        ...{ stormMs, everyMs: 4_000, settleMs: 600_000 },
      });
    },
  );
});

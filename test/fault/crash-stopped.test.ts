import { it } from 'vitest';
import { stopHolders } from '../support/stopped-holder.ts';

it(
  'lets a holder that was stopped past its lease publish nothing',
  { timeout: 120_000 },
  async () => {
    await stopHolders(10);
  },
);

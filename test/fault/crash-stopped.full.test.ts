import { it } from 'vitest';
import { stopHolders } from '../support/stopped-holder.ts';

it('lets no stopped holder publish in 200 rounds', { timeout: 1_200_000 }, async () => {
  await stopHolders(200);
});

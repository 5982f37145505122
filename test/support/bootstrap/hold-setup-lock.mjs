// A process that holds the set-up lock: node hold-setup-lock.mjs <folder> <journal> [hold ms]
// It writes `enter <pid>` and `leave <pid>` to the journal. `forever` as hold waits to be killed.
import { appendFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { withSetupLock } from '../../../scripts/bootstrap/setup-lock.mjs';

const [folder, journal, hold] = process.argv.slice(2);
await withSetupLock(folder, async () => {
  appendFileSync(journal, `enter ${process.pid}\n`);
  await sleep(hold === 'forever' ? 2 ** 30 : Number(hold));
  appendFileSync(journal, `leave ${process.pid}\n`);
});

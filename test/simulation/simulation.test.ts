import { expect, it } from 'vitest';
import { runEpisode } from './episode.ts';
it('one', async () => {
  const t = process.cpuUsage();
  const r = await runEpisode({ seed: Number(process.env['MESH_SEED'] ?? 1), tasks: 100 });
  const u = process.cpuUsage(t);
  console.log(r.claims, (u.user + u.system) / 1000, 'ms', String(r.windows));
  console.log(r.breaches.slice(0, 20));
  expect(r.breaches.length).toBe(0);
}, 60_000);

import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import type { BoardProbes } from '../../fabric/kanboard/board-probes.ts';
import type { Clock } from '../../fabric/ports/clock.ts';
import type { HomePaths } from '../home.ts';

const waitMs = 5_000;

/** Whether a change on the board is heard at the front; `unknown`: it can't be asked. */
export async function hearsChanges(
  frontUrl: string,
  { operatorToken }: HomePaths,
  probes: BoardProbes,
  projectId: number,
  clock: Clock,
): Promise<'heard' | 'silent' | 'unknown'> {
  const token = (await readFile(operatorToken, 'utf8').catch(() => '')).trim();
  const before = await heardAt(frontUrl, token);
  if (before === undefined) return 'unknown';
  await probes.change(projectId, clock.nowMs());
  const endMs = clock.monotonicMs() + waitMs;
  while (clock.monotonicMs() < endMs) {
    if (((await heardAt(frontUrl, token)) ?? 0) > before) return 'heard';
    await clock.sleep(100);
  }
  return 'silent';
}

const Heard = z.object({ heard: z.number() });

async function heardAt(frontUrl: string, token: string): Promise<number | undefined> {
  const headers = { authorization: `Bearer ${token}` };
  const answer = await fetch(`${frontUrl}/board/webhook`, { headers }).catch(() => undefined);
  const body: unknown = await answer?.json().catch(() => undefined);
  return Heard.safeParse(body).data?.heard;
}

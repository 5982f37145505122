import { spawn } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { tokenStore } from '../../agents/auth/token-store.ts';
import { exclusively } from '../../fabric/embedded/exclusive-work.ts';
import { lockFile } from '../../fabric/embedded/os-lock.ts';
import { loadSqlite } from '../../fabric/embedded/sqlite-module.ts';
import { systemClock } from '../../fabric/telemetry/system-clock.ts';
import { systemRandom } from '../../fabric/telemetry/system-random.ts';
import { manualClock } from '../support/manual-clock.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const fixture = join(import.meta.dirname, '../fixtures/token-process.ts');
const Made = z.object({ kept: z.array(z.string()), revoked: z.array(z.string()) });

/** Starts one; `go` lets it write and gives what it made. */
async function tokenProcess(path: string, count: number) {
  const args = ['--import', 'tsx', fixture, path, String(count)];
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const said = async () => String((await lines.next()).value);
  expect(await said()).toBe('ready');
  return {
    async go() {
      child.stdin.write('go\n');
      return Made.parse(JSON.parse(await said()));
    },
  };
}

const wish = { principalId: 'alvis', role: 'human', scopes: ['tasks:read'], label: 'l' } as const;
const wanted = { ...wish, scopes: [...wish.scopes] };

describe('tokens of one home', () => {
  it(
    'are all there after eight processes have made and revoked some at once',
    { timeout: 60_000 },
    async () => {
      const path = join(await temporaryFolder(), 'tokens.json');
      const processes = await Promise.all(Array.from({ length: 8 }, () => tokenProcess(path, 4)));
      const made = await Promise.all(processes.map((one) => one.go()));
      const store = tokenStore({ path, clock: systemClock, random: systemRandom });
      const there = (await store.listTokens()).map(({ tokenId }) => tokenId);
      expect(there).toHaveLength(16);
      expect(new Set(there)).toEqual(new Set(made.flatMap(({ kept }) => kept)));
      const left = await readdir(dirname(path));
      expect(left.sort()).toEqual([basename(path), `${basename(path)}.lock`]);
    },
  );

  it('are all there after one process has made some at once, by several stores', async () => {
    const path = join(await temporaryFolder(), 'tokens.json');
    const stores = Array.from({ length: 4 }, () =>
      tokenStore({ path, clock: systemClock, random: systemRandom }),
    );
    const made = await Promise.all(
      [...stores, ...stores].map(async (one) => (await one.createToken(wanted)).record.tokenId),
    );
    const there = (await stores[0]!.listTokens()).map(({ tokenId }) => tokenId);
    expect(there.sort()).toEqual(made.sort());
  });
});

describe('work under a lock', () => {
  it('is not begun where somebody keeps the lock, and says so', async () => {
    const path = join(await temporaryFolder(), 'a.lock');
    const held = lockFile(await loadSqlite(), path, 0);
    const clock = manualClock();
    let begun = 0;
    const work = exclusively({ path, clock }, async () => (begun += 1));
    const refused = expect(work).rejects.toMatchObject({ code: 'FABRIC_DOWN' });
    for (let step = 0; step < 600; step++) await clock.advance(20);
    await refused;
    expect(begun).toBe(0);
    held?.release();
    expect(await exclusively({ path, clock }, async () => (begun += 1))).toBe(1);
  });

  it('gives the lock back where the work fails', async () => {
    const path = join(await temporaryFolder(), 'a.lock');
    const place = { path, clock: manualClock() };
    await expect(exclusively(place, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await exclusively(place, () => Promise.resolve('yes'))).toBe('yes');
  });

  it('says what is wrong with a place where there can be no lock', async () => {
    const path = join(await temporaryFolder(), 'missing', 'a.lock');
    const work = exclusively({ path, clock: manualClock() }, () => Promise.resolve());
    await expect(work).rejects.toThrow(/cannot be taken.*folder/);
  });
});

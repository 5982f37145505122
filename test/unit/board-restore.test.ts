import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { putBack, replaceData } from '../../cli/board/backup/put-back.ts';
import { systemTar } from '../../cli/board/backup/tar.ts';
import { freeze } from '../../cli/board/freeze.ts';
import { homePaths } from '../../cli/home.ts';
import { systemRandom } from '../../fabric/telemetry/system-random.ts';
import { manualClock } from '../support/manual-clock.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

async function files(folder: string, texts: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, text] of Object.entries(texts)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
}
const text = (folder: string, path: string) => readFile(join(folder, path), 'utf8');

describe('a backup that is put in place', () => {
  it('gives the home what it lacks and takes nothing from it', async () => {
    const [home, content] = [await temporaryFolder(), await temporaryFolder()];
    await files(home, { 'state/tokens.json': 'newer' });
    await files(content, {
      'manifest.json': '{}',
      'state/tokens.json': 'older',
      'state/artifacts/ab/cd': 'result',
      'state/boards/own-mesh/mirror.db': 'made anew',
    });
    expect(await putBack(homePaths(home), content)).toEqual(['state/artifacts/ab/cd']);
    expect(await text(home, 'state/artifacts/ab/cd')).toBe('result');
    expect(await text(home, 'state/tokens.json')).toBe('newer');
    expect(existsSync(join(home, 'state/boards'))).toBe(false);
  });

  it('keeps the data of the board that it replaces, and its port', async () => {
    const [home, content] = [await temporaryFolder(), await temporaryFolder()];
    const data = 'state/kanboard/data';
    await files(home, { [`${data}/db.sqlite`]: 'newer', [`${data}/port`]: '8090' });
    await files(content, { [`${data}/db.sqlite`]: 'older' });
    const before = await replaceData(homePaths(home), content, 0);
    expect(before).toBe(join(home, `${data}.before-restore-19700101T000000000Z`));
    expect(await text(before ?? '', 'db.sqlite')).toBe('newer');
    expect(await text(home, `${data}/db.sqlite`)).toBe('older');
    expect(await text(home, `${data}/port`)).toBe('8090');
  });

  it.each([
    ['is no archive', 'junk'],
    ['is empty', ''],
  ])('is refused by its name where it %s', async (_name, bytes) => {
    const folder = await temporaryFolder();
    await files(folder, { 'b.tar.gz': bytes });
    const tar = systemTar({ PATH: process.env['PATH'] }, new AbortController().signal);
    await expect(tar.textOf(join(folder, 'b.tar.gz'), 'manifest.json')).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
      message: expect.stringContaining('b.tar.gz is no backup of a mesh, or not whole') as string,
    });
  });
});

describe('work on a board that is restored', () => {
  const stamp = { home: '0123456789abcdef', stamp: 7 };
  const backup = { createdAt: '2026-11-30T09:00:00.000Z', stamp };

  it('is held, by what the first mirror knows, however often it is restored', async () => {
    const home = await temporaryFolder();
    const frozen = { paths: homePaths(home), folder: 'own-mesh' };
    const deps = { clock: manualClock(), random: systemRandom };
    await files(home, { 'state/boards/own-mesh/mirror.db': 'knows all' });
    const first = await freeze(frozen, backup, deps);
    await files(home, { 'state/boards/own-mesh/mirror.db': 'knows the backup' });
    await deps.clock.advance(1_000);
    const second = await freeze(frozen, backup, deps);
    expect(await text(first ?? '', 'mirror.db')).toBe('knows all');
    expect(await text(second ?? '', 'mirror.db')).toBe('knows the backup');
    const memory = JSON.parse(await text(home, 'state/boards/own-mesh/stamp.json')) as object;
    expect(memory).toMatchObject({ ...stamp, restored: { boardStamp: 7 } });
    expect(first).toContain(`before-${(memory as { restored: { atMs: number } }).restored.atMs}`);
  });
});

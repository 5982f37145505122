import { createHash } from 'node:crypto';
import { readdir, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fileArtifacts } from '../../fabric/embedded/file-artifacts.ts';
import { lockHome } from '../../fabric/embedded/home-lock.ts';
import { processLiveness } from '../../fabric/embedded/process-liveness.ts';
import { manualClock } from '../support/manual-clock.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

describe('artifacts in a folder', () => {
  const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

  it('keeps each content once, under its digest, for its owner alone', async () => {
    const folder = await temporaryFolder();
    const artifacts = fileArtifacts({ folder: join(folder, 'artifacts') });
    const names = await Promise.all([
      artifacts.put('grüße'),
      artifacts.put(Buffer.from('grüße')),
      artifacts.put('grüße'),
    ]);
    expect(new Set(names)).toEqual(new Set([sha256('grüße')]));
    expect(Buffer.from((await artifacts.get(names[0]))!).toString()).toBe('grüße');
    const files = await readdir(join(folder, 'artifacts', names[0].slice(0, 2)));
    expect(files).toEqual([names[0]]);
    const path = join(folder, 'artifacts', names[0].slice(0, 2), names[0]);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  it('has nothing under another digest, and refuses a name that is none', async () => {
    const artifacts = fileArtifacts({ folder: await temporaryFolder() });
    expect(await artifacts.get(sha256('nothing'))).toBeUndefined();
    await expect(artifacts.get('../../etc/passwd')).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
    });
  });

  it('never hands out bytes that went bad, and heals them by the next put', async () => {
    const folder = await temporaryFolder();
    const artifacts = fileArtifacts({ folder });
    const name = await artifacts.put('whole');
    await truncate(join(folder, name.slice(0, 2), name), 2);
    await expect(artifacts.get(name)).rejects.toMatchObject({ code: 'FABRIC_DOWN' });
    expect(await artifacts.put('whole')).toBe(name);
    expect(Buffer.from((await artifacts.get(name))!).toString()).toBe('whole');
  });

  it('says what to do where nothing can be written', async () => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, 'file'), '');
    const artifacts = fileArtifacts({ folder: join(folder, 'file', 'below') });
    await expect(artifacts.put('x')).rejects.toThrow(/artifact.*space|artifact.*disk/);
  });
});

describe('the lock of a home', () => {
  const holder = { pid: process.pid, command: 'mesh up' };

  it('is had by one at a time, and tells the others by whom', async () => {
    const path = join(await temporaryFolder(), 'state', 'home.lock');
    const first = await lockHome(path, holder);
    if (first.kind !== 'locked') throw new Error('the first one did not get it');
    expect(await lockHome(path, holder)).toEqual({ kind: 'held', holder });
    await first.describe({ ...holder, url: 'http://127.0.0.1:4700' });
    expect(await lockHome(path, { pid: 1, command: 'mesh keeper' })).toEqual({
      kind: 'held',
      holder: { ...holder, url: 'http://127.0.0.1:4700' },
    });
    first.release();
    const second = await lockHome(path, { pid: 2, command: 'mesh tasks' });
    expect(second.kind).toBe('locked');
    if (second.kind === 'locked') second.release();
  });

  it('says so when its place cannot be written', async () => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, 'file'), '');
    await expect(lockHome(join(folder, 'file', 'home.lock'), holder)).rejects.toMatchObject({
      code: 'FABRIC_DOWN',
    });
  });
});

describe('proof of death', () => {
  it('is none for the living, for oneself, or for a name never seen', async () => {
    const folder = await temporaryFolder();
    const clock = manualClock();
    const one = await processLiveness({ folder, incarnation: 'one', clock });
    const two = await processLiveness({ folder, incarnation: 'two', clock });
    expect(await one.isDead('one')).toBe(false);
    expect(await one.isDead('two')).toBe(false);
    expect(await two.isDead('one')).toBe(false);
    expect(await one.isDead('three')).toBe(false);
    expect(await one.isDead('../two')).toBe(false);
    one.release();
    two.release();
  });

  it('is there once the lock is free, for everybody who asks, also after a restart', async () => {
    const folder = await temporaryFolder();
    const clock = manualClock();
    const one = await processLiveness({ folder, incarnation: 'one', clock });
    const two = await processLiveness({ folder, incarnation: 'two', clock });
    one.release();
    const answers = await Promise.all(Array.from({ length: 8 }, () => two.isDead('one')));
    expect(answers).toEqual(Array.from({ length: 8 }, () => true));
    two.release();
    const three = await processLiveness({ folder, incarnation: 'three', clock });
    expect(await three.isDead('one')).toBe(true);
    expect(await three.isDead('two')).toBe(true);
    three.release();
  });

  it('is cleared away when nobody can need it any more', async () => {
    const folder = await temporaryFolder();
    const clock = manualClock();
    const one = await processLiveness({ folder, incarnation: 'one', clock });
    one.release();
    const two = await processLiveness({ folder, incarnation: 'two', clock });
    two.release();
    await writeFile(join(folder, 'half.starting'), '');
    await clock.advance(8 * 24 * 60 * 60_000);
    const three = await processLiveness({ folder, incarnation: 'three', clock });
    expect(new Set(await readdir(folder))).toEqual(new Set(['two.dead', 'three']));
    three.release();
  });

  it('refuses a name that is no file name', async () => {
    const folder = await temporaryFolder();
    await expect(
      processLiveness({ folder, incarnation: '../x', clock: manualClock() }),
    ).rejects.toMatchObject({ code: 'VALIDATION_ERROR' });
  });
});

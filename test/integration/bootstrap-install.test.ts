import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import {
  inBootstrap,
  runBeside,
  repository,
  smallClone,
  write,
  type Run,
} from '../support/bootstrap/small-clone.ts';

const running = 'ci --omit=dev --no-audit';
const everything = 'ci --include=dev --no-audit';
const rest = 'install --no-save --include=dev';
const compiler = 'compiler ci --no-audit --no-fund';

// Each start is a real build in a process of its own: seconds on a busy machine.
vi.setConfig({ testTimeout: 60_000 });

let root: string;
let npm: string;
beforeEach(() => {
  root = smallClone({ installed: false });
  npm = join(root, '.npm-stand-in');
  mkdirSync(npm);
  writeFileSync(join(npm, 'package.json'), '{ "type": "module" }');
  cpSync(join(repository, 'test/support/bootstrap/stand-in-npm.mjs'), join(npm, 'npm-cli.js'));
});
afterEach(() => {
  rmSync(root, { recursive: true, force: true });
});

const withNpm = (): Record<string, string> => ({
  npm_execpath: join(npm, 'npm-cli.js'),
  REAL_TYPESCRIPT: join(repository, 'node_modules/typescript'),
});

const start = (): Promise<Run> => runBeside(root, 'scripts/mesh-run.mjs', ['mesh'], withNpm());

/** What `npm run check` does before it runs its programs. */
function develop(): Promise<Run> {
  write(
    root,
    'set-up-packages.mjs',
    `import { setUpPackages } from './scripts/bootstrap/set-up.mjs';\nawait setUpPackages(import.meta.dirname);\n`,
  );
  return runBeside(root, 'set-up-packages.mjs', [], withNpm());
}

/** What npm was called with since the last look, without the clone's name. */
function calls(): string[] {
  const file = join(npm, 'journal');
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').trim().split('\n');
  rmSync(file);
  return lines.map((line) => line.replace(/^mesh-clone-\S+ /, '')).sort();
}

describe('a first start', () => {
  it('installs the packages of the mesh and the compiler, no more, and a second one nothing', async () => {
    const first = await start();
    expect(first.status, first.stderr).toBe(0);
    expect(first.stdout).toContain('"word":"one"');
    expect(calls()).toEqual([running, compiler]);
    expect(existsSync(join(root, 'node_modules/typescript'))).toBe(false);
    const second = await start();
    expect(second.stderr).toBe('');
    expect(calls()).toEqual([]);
  });

  it('installs once when there are two at once', async () => {
    const both = await Promise.all([start(), start()]);
    expect(both.map(({ status }) => status)).toEqual([0, 0]);
    expect(calls()).toEqual([running, compiler]);
  });

  it('installs again what an earlier one broke off', async () => {
    writeFileSync(join(npm, 'break'), '');
    expect((await start()).status).toBe(1);
    calls();
    rmSync(join(npm, 'break'));
    expect((await start()).status).toBe(0);
    expect(calls()).toEqual([running, compiler]);
  });

  it('keeps the compiler when only a source has changed', async () => {
    await start();
    calls();
    write(root, 'fabric/word.ts', `export const word = 'other';\n`);
    expect((await start()).stdout).toContain('"word":"other"');
    expect(calls()).toEqual([]);
  });
});

describe('a command for developers', () => {
  it('adds to the packages of a start, which a running mesh may be using, and does so once', async () => {
    await start();
    writeFileSync(join(root, 'node_modules/zod/in-use'), '');
    calls();
    await develop();
    await develop();
    expect(calls()).toEqual([rest]);
    expect(existsSync(join(root, 'node_modules/zod/in-use'))).toBe(true);
  });

  it('installs everything anew where adding was broken off', async () => {
    await start();
    writeFileSync(join(npm, 'break'), '');
    expect((await develop()).status).toBe(1);
    rmSync(join(npm, 'break'));
    expect((await start()).status).toBe(0);
    calls();
    await develop();
    expect(calls()).toEqual([everything]);
  });

  it('leaves a tree that a start takes as it is', async () => {
    await develop();
    expect(calls()).toEqual([everything]);
    expect((await start()).status).toBe(0);
    expect(calls()).toEqual([]);
  });

  it('leaves a tree that stays whole when a start brings it up to a new lock', async () => {
    await develop();
    calls();
    const lock = join(root, 'package-lock.json');
    writeFileSync(lock, `${readFileSync(lock, 'utf8')}\n`);
    expect((await start()).status).toBe(0);
    expect(calls()).toContain(everything);
    expect(existsSync(join(root, 'node_modules/typescript'))).toBe(true);
  });
});

describe('the compiler of a start', () => {
  const Entry = z.looseObject({ version: z.string(), integrity: z.string() });
  const Lock = z.looseObject({ packages: z.record(z.string(), z.looseObject({})) });
  const entry = (lock: unknown): z.infer<typeof Entry> =>
    Entry.parse(Lock.parse(lock).packages['node_modules/typescript']);
  const json = (name: string): unknown => JSON.parse(readFileSync(join(repository, name), 'utf8'));

  it('has the version and the hash of the one that package.json and its lock name', () => {
    const own = inBootstrap('compiler.mjs', `it.compilerLock(${JSON.stringify(repository)})`);
    const { version, integrity } = entry(own);
    expect({ version, integrity }).toEqual({
      version: entry(json('package-lock.json')).version,
      integrity: entry(json('package-lock.json')).integrity,
    });
    const manifest = z
      .looseObject({ devDependencies: z.record(z.string(), z.string()) })
      .parse(json('package.json'));
    expect(version).toBe(manifest.devDependencies['typescript']);
  });
});

import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  inBootstrap,
  mesh,
  smallClone,
  write,
  type Run,
} from '../support/bootstrap/small-clone.ts';

describe('a start', () => {
  let root: string;
  beforeAll(() => {
    root = smallClone({ installed: true });
  });
  afterAll(() => {
    rmSync(root, { recursive: true, force: true });
  });

  const answer = (run: Run): { word: string; argv: string[] } =>
    z.object({ word: z.string(), argv: z.array(z.string()) }).parse(JSON.parse(run.stdout));

  it('builds, then runs the command in the same process with its arguments, words on stderr', () => {
    const run = mesh(root, 'mesh', 'up', '--ports');
    expect(answer(run)).toEqual({ word: 'one', argv: ['mesh', 'up', '--ports'] });
    expect(run.stderr).toContain('building dist');
    expect(run.status).toBe(0);
  });

  it('builds nothing while nothing has changed', () => {
    expect(mesh(root, 'mesh').stderr).toBe('');
  });

  it('builds again when a source has changed, even with a wrong type', () => {
    write(root, 'fabric/word.ts', `export const word: number = 'two';\n`);
    const run = mesh(root, 'mesh');
    expect(answer(run).word).toBe('two');
    expect(run.stderr).toContain('building dist');
  });

  it('deletes the output of a source that is gone', () => {
    expect(existsSync(join(root, 'dist/fabric/gone.js'))).toBe(true);
    rmSync(join(root, 'fabric/gone.ts'));
    expect(mesh(root, 'mesh').stderr).toContain('outputs of sources that are gone');
    expect(existsSync(join(root, 'dist/fabric/gone.js'))).toBe(false);
    expect(existsSync(join(root, 'dist/fabric/gone.js.map'))).toBe(false);
    expect(existsSync(join(root, 'dist/fabric/word.js'))).toBe(true);
  });

  it('builds all again when dist is deleted, or only its stamp and some outputs', () => {
    rmSync(join(root, 'dist'), { recursive: true });
    expect(answer(mesh(root, 'mesh')).word).toBe('two');
    rmSync(join(root, 'dist/.mesh-build'));
    rmSync(join(root, 'dist/fabric/word.js'));
    expect(answer(mesh(root, 'mesh')).word).toBe('two');
  });

  it('stops with the compiler words and exit code 1 when a source cannot be parsed', () => {
    const good = readFileSync(join(root, 'fabric/word.ts'), 'utf8');
    write(root, 'fabric/word.ts', 'export const word = {;\n');
    const run = mesh(root, 'mesh');
    expect(run.status).toBe(1);
    expect(run.stdout).toBe('');
    expect(run.stderr).toContain('fabric/word.ts');
    write(root, 'fabric/word.ts', good);
    expect(mesh(root, 'mesh').status).toBe(0);
  });

  it('refuses a verb it does not know, and names those it does', () => {
    const run = mesh(root, 'serve');
    expect(run.status).toBe(1);
    expect(run.stderr).toContain(`'serve' is no verb`);
    expect(run.stderr).toContain('vitest-full');
  });
});

describe('what decides an installation', () => {
  it('changes with the lock, the manifest and the npm settings, and with no source', () => {
    const root = smallClone({ installed: false });
    const key = (): unknown => inBootstrap('stamp.mjs', `it.installKey(${JSON.stringify(root)})`);
    const keys = [key()];
    write(root, 'fabric/word.ts', 'export const word = 3;\n');
    expect(key()).toBe(keys[0]);
    for (const name of ['package-lock.json', 'package.json', '.npmrc']) {
      writeFileSync(join(root, name), `${readFileSync(join(root, name), 'utf8')}\n`);
      keys.push(key());
    }
    expect(new Set(keys).size).toBe(4);
    rmSync(root, { recursive: true, force: true });
  });
});

describe('the floor of Node', () => {
  it.each(['20.19.0', '20.20.2', '22.13.0', '24.0.0', '26.1.0'])('accepts %s', (version) => {
    expect(inBootstrap('node-floor.mjs', `it.nodeRefusal('${version}')`)).toBe('');
  });
  it.each(['18.20.8', '20.18.3', '21.7.0', '22.12.0', '23.11.0'])('refuses %s', (version) => {
    expect(inBootstrap('node-floor.mjs', `it.nodeRefusal('${version}')`)).toContain(
      `Node ${version} is not supported. Install Node 24`,
    );
  });
});

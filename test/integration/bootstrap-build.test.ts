import { spawnSync } from 'node:child_process';
import { readFileSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import { mesh, repository, smallClone, write } from '../support/bootstrap/small-clone.ts';

// Each start is a real build in a process of its own: seconds on a busy machine.
vi.setConfig({ testTimeout: 60_000 });

let root: string;
afterEach(() => {
  rmSync(root, { recursive: true, force: true });
});

/** Names and contents of what a build has made. */
const outputs = (folder: string): Map<string, string> =>
  new Map(
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.(?:js|map)$/.test(name))
      .sort()
      .map((name) => [name, readFileSync(join(folder, name), 'utf8')]),
  );

it('builds byte for byte what tsc builds: JSX, types, late imports and all', () => {
  root = smallClone({ installed: true });
  write(
    root,
    'agents/page.tsx',
    `export const Page = (p: { a: string }) => <p class="x">{p.a}</p>;\n`,
  );
  write(root, 'cards/late.ts', `export const late = () => import('../fabric/word.ts');\n`);
  write(root, 'cards/any.ts', `export const any = (url: string) => import(url);\n`);
  write(
    root,
    'router/types.ts',
    `import type { A } from './a.ts';\nimport { type B, c } from './b.ts';\nexport * from './a.ts';\nexport class D { #b!: B; declare a: A; static { c(); } get x(): number { return 1 satisfies number; } }\nusing e = null;\n`,
  );
  write(root, 'router/a.ts', `export interface A { readonly a: string }\n`);
  write(root, 'router/b.ts', `export type B = string;\nexport const c = (): void => {};\n`);
  expect(mesh(root, 'mesh').status).toBe(0);
  const tsc = join(repository, 'node_modules/typescript/bin/tsc');
  const args = ['-p', 'tsconfig.build.json', '--noCheck', '--outDir', 'dist-of-tsc'];
  expect(spawnSync(process.execPath, [tsc, ...args], { cwd: root }).status).toBe(0);
  const ours = outputs(join(root, 'dist'));
  expect(ours.size).toBe(18);
  expect(ours).toEqual(outputs(join(root, 'dist-of-tsc')));
});

it('builds a changed and a new source, and leaves the outputs of the others alone', () => {
  root = smallClone({ installed: true });
  expect(mesh(root, 'mesh').status).toBe(0);
  write(root, 'dist/fabric/gone.js', 'untouched');
  write(root, 'fabric/word.ts', `export { word } from './new.ts';\n`);
  write(root, 'fabric/new.ts', `export const word: string = 'new';\n`);
  expect(mesh(root, 'mesh').stdout).toContain('"word":"new"');
  expect(readFileSync(join(root, 'dist/fabric/gone.js'), 'utf8')).toBe('untouched');
});

it('builds everything when the settings have changed', () => {
  root = smallClone({ installed: true });
  expect(mesh(root, 'mesh').status).toBe(0);
  write(root, 'dist/fabric/gone.js', 'touched');
  const settings = readFileSync(join(root, 'tsconfig.build.json'), 'utf8');
  write(root, 'tsconfig.build.json', `${settings}\n`);
  expect(mesh(root, 'mesh').status).toBe(0);
  expect(readFileSync(join(root, 'dist/fabric/gone.js'), 'utf8')).toContain('gone = true');
});

import { spawn, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const repository = join(import.meta.dirname, '../../..');
const bootstrap = join(repository, 'scripts/bootstrap');

/** Runs `body` as a module that imports from the bootstrap as `it`; what it prints is JSON. */
export function inBootstrap(file: string, body: string): unknown {
  const script = `import * as it from ${JSON.stringify(join(bootstrap, file))}; process.stdout.write(JSON.stringify(${body}));`;
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    ['--input-type=module', '-e', script],
    { encoding: 'utf8' },
  );
  if (status !== 0) throw new Error(stderr);
  return JSON.parse(stdout);
}

/** A clone of three source files, with the real scripts and the real compiler, installed or not. */
export function smallClone({ installed }: { installed: boolean }): string {
  const root = mkdtempSync(join(tmpdir(), 'mesh-clone-'));
  for (const name of [
    'package.json',
    'package-lock.json',
    '.npmrc',
    'tsconfig.json',
    'tsconfig.build.json',
    'scripts',
  ]) {
    cpSync(join(repository, name), join(root, name), { recursive: true });
  }
  write(
    root,
    'cli/main.ts',
    `import { word } from '../fabric/word.ts';\nprocess.stdout.write(JSON.stringify({ word, argv: process.argv.slice(1) }));\n`,
  );
  write(root, 'fabric/word.ts', `export const word: string = 'one';\n`);
  write(root, 'fabric/gone.ts', `export const gone = true;\n`);
  if (installed) {
    mkdirSync(join(root, 'node_modules'));
    for (const name of ['typescript', '@types', 'undici-types']) {
      symlinkSync(join(repository, 'node_modules', name), join(root, 'node_modules', name));
    }
    const key = inBootstrap('stamp.mjs', `it.installKey(${JSON.stringify(root)})`);
    writeFileSync(join(root, 'node_modules/.mesh-install'), String(key));
  }
  return root;
}

/** Writes a file of the clone, and the folders on its way. */
export function write(root: string, name: string, text: string): void {
  mkdirSync(join(root, name, '..'), { recursive: true });
  writeFileSync(join(root, name), text);
}

export interface Run {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a verb of the clone to its end. */
export function mesh(root: string, ...args: string[]): Run {
  const script = join(root, 'scripts/mesh-run.mjs');
  return spawnSync(process.execPath, [script, ...args], { cwd: root, encoding: 'utf8' });
}

/** Runs a program of the clone beside others, with variables added to the environment. */
export function runBeside(
  root: string,
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<Run> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [join(root, program), ...args], {
      cwd: root,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const said = { stdout: '', stderr: '' };
    child.stdout.setEncoding('utf8').on('data', (text: string) => (said.stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (said.stderr += text));
    child.once('error', reject);
    child.once('close', (status) => {
      resolve({ status, ...said });
    });
  });
}

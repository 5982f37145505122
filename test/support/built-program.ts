import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'vite';
import { afterAll } from 'vitest';

const root = join(import.meta.dirname, '../..');

/** Programs that tests start as processes of their own, and the thread that they start in turn. */
const sources = {
  'claim-rivals': 'test/fixtures/claim-rivals.ts',
  'crash-keeper': 'test/fixtures/crash-keeper.ts',
  'crash-worker': 'test/fixtures/crash-worker.ts',
  'stress-process': 'test/fixtures/stress-process.ts',
  'board-load': 'test/support/board-load.ts',
  'board-thread': 'fabric/embedded/board-thread.ts',
} as const;

let folder: Promise<string> | undefined;
afterAll(async () => {
  if (folder) await rm(await folder, { recursive: true, force: true });
});

/**
 * The path of a program, built from its source at the first call of a test file. Loading the source in
 * each process would cost over a second of each start.
 */
export async function builtProgram(name: Exclude<keyof typeof sources, 'board-thread'>) {
  return join(await (folder ??= buildAll()), `${name}.js`);
}

/** Inside the clone, where Node finds the packages. */
async function buildAll(): Promise<string> {
  const parent = join(root, '.build/test-programs');
  await mkdir(parent, { recursive: true });
  const outDir = await mkdtemp(join(parent, 'built-'));
  const names = { entryFileNames: '[name].js', chunkFileNames: '[name].js' };
  await build({
    configFile: false,
    logLevel: 'error',
    root,
    build: {
      ssr: true,
      target: 'node20',
      outDir,
      rolldownOptions: { input: sources, output: names },
    },
  });
  return outDir;
}

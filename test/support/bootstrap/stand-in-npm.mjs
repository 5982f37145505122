// Stands in for npm, under the name npm-cli.js: it appends `<folder> <arguments>` to the journal beside
// it and makes the node_modules that npm would make, of links into this repository. While a file
// `break` lies beside it, it dies with half of that done.
import { appendFileSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';

const beside = (name) => join(import.meta.dirname, name);
const args = process.argv.slice(2);
const has = (word) => args.includes(word);
const compilerOnly = process.cwd().endsWith('compiler');
appendFileSync(beside('journal'), `${basename(process.cwd())} ${args.slice(0, 3).join(' ')}\n`);

const modules = join(process.cwd(), 'node_modules');
if (has('ci')) rmSync(modules, { recursive: true, force: true });
mkdirSync(join(modules, 'zod'), { recursive: true });
if (existsSync(beside('break'))) process.exit(1);
if (compilerOnly || has('--include=dev')) {
  symlinkSync(process.env.REAL_TYPESCRIPT, join(modules, 'typescript'));
}
writeFileSync(join(modules, '.package-lock.json'), '{}');

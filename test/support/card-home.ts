import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { cardBytes, operatorFields } from './card-yaml.ts';

/** What git needs of the test's own environment. */
export const gitEnvironment = { PATH: process.env['PATH'], HOME: tmpdir() };

export interface CardHome {
  readonly dir: string;
  readonly stateDir: string;
  git(...args: readonly string[]): string;
  write(path: string, content: string | Uint8Array): void;
  card(fields: Readonly<Record<string, unknown>>): void;
  /** Commits everything and returns the commit. */
  commit(message?: string): string;
  remove(): void;
}

/** A mesh home in a folder of its own: the operator, Adolf and his persona, committed. */
export function cardHome(): CardHome {
  const dir = mkdtempSync(join(tmpdir(), 'card-home-'));
  const who = ['-c', 'user.name=Test', '-c', 'user.email=test@localhost'];
  const git = (...args: readonly string[]) =>
    execFileSync('git', [...who, ...args], { cwd: dir, env: gitEnvironment })
      .toString('utf8')
      .trim();
  const write = (path: string, content: string | Uint8Array) => {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), content);
  };
  const home: CardHome = {
    dir,
    stateDir: join(dir, 'state'),
    git,
    write,
    card: (fields) => {
      write(
        `cards/${typeof fields['id'] === 'string' ? fields['id'] : 'adolf'}.card.yaml`,
        cardBytes(fields),
      );
    },
    commit(message = 'Change the cards') {
      git('add', '-A');
      git('commit', '-q', '--allow-empty', '-m', message);
      return git('rev-parse', 'HEAD');
    },
    remove: () => {
      rmSync(dir, { recursive: true, force: true });
    },
  };
  git('init', '-q', '-b', 'main');
  write('.gitignore', 'state/\n');
  write('personas/adolf.md', '# Adolf\n');
  home.card(operatorWithout);
  home.card({});
  home.commit('Start');
  return home;
}

const operatorWithout = { ...operatorFields, persona: undefined, needs: undefined };

import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { cardKey } from '../../cards/registry/agent-key.ts';
import { initHome } from '../../cards/registry/init-home.ts';
import { gitEnvironment } from './card-home.ts';

type Fields = Record<string, unknown>;

export interface MeshHome {
  /** The home itself, with the shipped agents; nothing runs in it yet. */
  readonly dir: string;
  git(...args: readonly string[]): string;
  write(path: string, text: string): void;
  read(path: string): string;
  /** Changes top-level fields of a Card; undefined removes one. Committed by `commit`. */
  changeCard(agentId: string, change: Readonly<Fields>): void;
  /** A new Card with a key of its own; a scripted agent unless `change` says otherwise. */
  addCard(agentId: string, change?: Readonly<Fields>): Promise<void>;
  commit(message?: string): string;
  remove(): void;
}

/** A fresh mesh home from the catalog in a folder of its own, as `mesh init` makes it. */
export async function meshHome(): Promise<MeshHome> {
  const folder = mkdtempSync(join(tmpdir(), 'mesh-e2e-'));
  const dir = join(folder, 'home');
  await initHome({ dir, human: 'operator', environment: gitEnvironment });
  const who = ['-c', 'user.name=Test', '-c', 'user.email=test@localhost'];
  const git = (...args: readonly string[]) =>
    execFileSync('git', [...who, ...args], { cwd: dir, env: gitEnvironment })
      .toString('utf8')
      .trim();
  const fileOf = (agentId: string) => join(dir, 'cards', `${agentId}.card.yaml`);
  const writeCard = (agentId: string, fields: Fields) => {
    const kept = Object.entries(fields).filter(([, value]) => value !== undefined);
    writeFileSync(
      fileOf(agentId),
      stringify(Object.fromEntries(kept), { aliasDuplicateObjects: false }),
    );
  };
  return {
    dir,
    git,
    write: (path, text) => {
      writeFileSync(join(dir, path), text);
    },
    read: (path) => readFileSync(join(dir, path), 'utf8'),
    changeCard: (agentId, change) => {
      const card = parse(readFileSync(fileOf(agentId), 'utf8')) as Fields;
      writeCard(agentId, { ...card, ...change });
    },
    async addCard(agentId, change = {}) {
      const identity = await cardKey(join(dir, 'state'), agentId);
      writeCard(agentId, { ...scripted, id: agentId, name: agentId, identity, ...change });
    },
    commit(message = 'Change the agents') {
      git('add', '-A');
      git('commit', '-q', '-m', message);
      return git('rev-parse', 'HEAD');
    },
    remove: () => {
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const scripted = {
  description: 'Plays its part in a test.',
  version: '1.0.0',
  runtime: 'rehearsal',
  skills: [{ id: 'play', name: 'Play', description: 'Plays its part.', tags: ['test'] }],
  trust: 'trusted',
  cost: 'free-local',
  effects: 'none',
  rehearsal: { script: [{ answer: 'Played.' }] },
};

/** The same Cards, keys and secret in a folder of its own beside `dir`, as on another host. */
export function otherHost(dir: string): string {
  const elsewhere = `${dir}-elsewhere`;
  mkdirSync(join(elsewhere, 'state'), { recursive: true });
  for (const part of ['.git', '.gitignore', 'mesh.yaml', 'cards', 'personas', 'state/keys']) {
    cpSync(join(dir, part), join(elsewhere, part), { recursive: true });
  }
  return elsewhere;
}

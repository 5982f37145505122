import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { cardKey, readAgentKey } from '../../cards/registry/agent-key.ts';
import { lintCards, listCards, showCard } from '../../cards/registry/card-operations.ts';
import { initHome } from '../../cards/registry/init-home.ts';
import { lastGoodFile } from '../../cards/registry/last-good.ts';
import { newCard } from '../../cards/registry/new-card.ts';
import { catalogFolder, packageRoot } from '../../cards/registry/package-root.ts';
import { Runtime } from '../../cards/schema/card.ts';
import { isError } from '../../cards/schema/card-problem.ts';
import { InvalidValueError } from '../../fabric/domain/errors.ts';
import { gitEnvironment } from '../support/card-home.ts';

let parent: string;
let dir: string;
const nowMs = Date.UTC(2026, 10, 30);
const environment = gitEnvironment;
const view = (change: object = {}) => ({
  home: dir,
  defaultHuman: 'alvis',
  environment,
  nowMs,
  ...change,
});
const git = (...args: string[]) =>
  execFileSync('git', args, { cwd: dir, env: environment }).toString().trim();
const mode = (path: string) => (statSync(join(dir, path)).mode & 0o777).toString(8);

beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'mesh-home-'));
  dir = join(parent, 'mesh');
});
afterEach(() => {
  rmSync(parent, { recursive: true, force: true });
});

describe('a new mesh home', () => {
  it('is a committed set of sound Cards with a key each', async () => {
    const { kind, commit, agentIds } = await initHome({ dir, human: 'alvis', environment });
    expect(kind).toBe('created');
    expect(agentIds).toContain('alvis');
    expect(agentIds).not.toContain('operator');
    expect(git('rev-parse', 'main')).toBe(commit);
    expect(git('status', '--porcelain')).toBe('');
    expect(git('log', '--format=%an <%ae>')).toBe('mesh <mesh@localhost>');
    expect(await lintCards(view({ ref: 'main' }))).toEqual([]);
    const { rows } = await listCards(view({ ref: 'main' }));
    expect(rows.map(({ id }) => id).sort()).toEqual(agentIds);
    expect(rows.every(({ canCall }) => canCall)).toBe(true);
    expect((await showCard(view({ ref: 'main' }), 'adolf')).card.mayCall).toContain('alvis');
    expect(readFileSync(join(dir, 'mesh.yaml'), 'utf8')).toContain('defaultHuman: alvis\n');
  });

  it('keeps its secrets out of git and from other users', async () => {
    await initHome({ dir, human: 'alvis', environment });
    expect(git('ls-files')).not.toMatch(/state|secret|jwk/);
    expect(mode('state/keys')).toBe('700');
    for (const name of readdirSync(join(dir, 'state/keys')))
      expect(mode(`state/keys/${name}`)).toBe('600');
    expect(readFileSync(join(dir, 'state/keys/mesh.secret'), 'utf8')).toMatch(/^[0-9a-f]{64}\n$/);
    const { card } = await showCard(view(), 'adolf');
    expect((await readAgentKey(join(dir, 'state'), 'adolf'))?.x).toBe(card.identity?.x);
  });

  it('changes nothing the second time', async () => {
    const first = await initHome({ dir, human: 'alvis', environment });
    const secret = readFileSync(join(dir, 'state/keys/mesh.secret'), 'utf8');
    writeFileSync(join(dir, 'mesh.yaml'), 'defaultHuman: alvis # mine\n');
    expect(await initHome({ dir, human: 'alvis', environment })).toEqual({
      kind: 'existing',
      commit: first.commit,
      agentIds: [],
    });
    expect(readFileSync(join(dir, 'mesh.yaml'), 'utf8')).toContain('# mine');
    expect(readFileSync(join(dir, 'state/keys/mesh.secret'), 'utf8')).toBe(secret);
  });

  it('takes up an init that was cut off before its commit, with the keys it had', async () => {
    mkdirSync(join(dir, 'state'), { recursive: true });
    const key = await cardKey(join(dir, 'state'), 'adolf');
    git('init', '-q');
    mkdirSync(join(dir, 'cards'));
    writeFileSync(join(dir, 'cards', 'adolf.card.yaml'), 'id: ad');
    await initHome({ dir, human: 'alvis', environment });
    expect((await showCard(view({ ref: 'main' }), 'adolf')).card.identity).toEqual(key);
  });

  it.each([
    ['nobody', '', 'alvis <alvis@localhost>'],
    ['a name alone', '\tname = Ada\n', 'Ada <alvis@localhost>'],
    ['somebody', '\tname = Ada\n\temail = ada@example.org\n', 'Ada <ada@example.org>'],
  ])('takes a commit where git knows %s', async (_who, known, author) => {
    const HOME = join(parent, 'person');
    mkdirSync(HOME);
    // Else git may make up a name from the host's.
    writeFileSync(join(HOME, '.gitconfig'), `[user]\n\tuseConfigOnly = true\n${known}`);
    const env = { PATH: environment.PATH, HOME };
    await initHome({ dir, human: 'alvis', environment: env });
    const own = (...args: string[]) =>
      execFileSync('git', args, { cwd: dir, env }).toString().trim();
    own('commit', '-q', '--allow-empty', '-m', 'Add an agent');
    expect(own('log', '-1', '--format=%an <%ae>')).toBe(author);
    const email = own('config', '--default', '', '--local', '--get', 'user.email');
    expect(email).toBe(known.includes('email') ? '' : 'alvis@localhost');
  });

  it('can lie inside another repository, and is not it', async () => {
    execFileSync('git', ['init', '-q', parent], { env: environment });
    await initHome({ dir, human: 'alvis', environment });
    expect(git('rev-parse', '--show-toplevel')).toBe(dir);
  });

  it('refuses a folder with other things, and a person with the id of an agent', async () => {
    mkdirSync(dir);
    writeFileSync(join(dir, 'thesis.tex'), '');
    await expect(initHome({ dir, human: 'alvis', environment })).rejects.toThrow(
      /holds thesis\.tex.*empty/,
    );
    expect(readdirSync(dir)).toEqual(['thesis.tex']);
    rmSync(dir, { recursive: true });
    await expect(initHome({ dir, human: 'adolf', environment })).rejects.toThrow(/shipped agent/);
    await expect(initHome({ dir, human: 'Not An Id', environment })).rejects.toThrow(
      InvalidValueError,
    );
  });

  it.each(['/proc/home', '/proc/deep/home', '/dev/null', '/dev/null/home'])(
    'ends with a word about a place that takes no folder: %s',
    async (dir) => {
      await expect(initHome({ dir, human: 'alvis', environment })).rejects.toThrow(
        /can't be made a mesh home: E[A-Z]+.*Name a folder/,
      );
    },
  );
});

describe('a new Card', () => {
  it.each(Runtime.options)('of runtime %s lints clean and has a key', async (runtime) => {
    await initHome({ dir, human: 'alvis', environment });
    const paths = await newCard({ home: dir, stateDir: join(dir, 'state'), id: 'fresh', runtime });
    expect(paths.every((path) => existsSync(join(dir, path)))).toBe(true);
    expect(await lintCards(view())).toEqual([]);
    const { card, lastChange } = await showCard(view(), 'fresh');
    expect(card.identity).toEqual(await cardKey(join(dir, 'state'), 'fresh'));
    expect(lastChange).toBeUndefined();
  });

  it.each([
    ['node', '{home}/bots/gone.mjs'],
    ['node', '--no-warnings', '{home}/bots/gone.mjs', '{home}/out.txt'],
    ['{home}/bots/gone.sh'],
    ['{catalog}/bots/gone.mjs', '--fast'],
    ['/no/such/program'],
    ['python3', '-u', '/no/such/script.py'],
    ['node', 'bots/there.mjs'],
    ['bots/there.mjs'],
    ['./gone.sh'],
  ])('whose program no run would find is told of: %s %s %s', async (...command) => {
    await withRunner(command);
    const [problem, ...more] = await lintCards(view());
    expect(more).toEqual([]);
    expect(problem).toMatchObject({
      severity: 'warning',
      code: 'NO_PROGRAM',
      file: 'cards/fresh.card.yaml',
      path: expect.stringMatching(/^runner\.command\[\d\]$/) as string,
    });
  });

  it.each([
    ['node', '{home}/bots/there.mjs', '{home}/made/later.txt'],
    ['{home}/bots/there.mjs'],
    ['node', '{catalog}/bots/link-checker.mjs'],
    ['node', '-e', 'process.exit(0)'],
    ['node', '-e', `process.exit(${'0'.repeat(900)})`],
    ['node', '-e', 'a\u0000b'],
    ['sh', '-c', 'cat cards/*'],
    ['ls', 'cards'],
    ['jq', '.'],
  ])('whose program may be there is not told of: %s %s %s', async (...command) => {
    await withRunner(command);
    expect(await lintCards(view())).toEqual([]);
  });

  async function withRunner(command: readonly string[]): Promise<void> {
    await initHome({ dir, human: 'alvis', environment });
    mkdirSync(join(dir, 'bots'));
    writeFileSync(join(dir, 'bots', 'there.mjs'), '');
    const options = { home: dir, stateDir: join(dir, 'state'), id: 'fresh' } as const;
    await newCard({ ...options, runtime: 'runner' });
    rmSync(join(dir, 'bots', 'fresh.mjs'));
    const file = join(dir, 'cards', 'fresh.card.yaml');
    const card = parse(readFileSync(file, 'utf8')) as object;
    writeFileSync(file, stringify({ ...card, runner: { command } }));
  }

  it('never overwrites one, nor the files beside it', async () => {
    await initHome({ dir, human: 'alvis', environment });
    const fresh = { home: dir, stateDir: join(dir, 'state'), id: 'fresh' } as const;
    mkdirSync(join(dir, 'bots'));
    writeFileSync(join(dir, 'bots', 'fresh.mjs'), '// mine\n');
    writeFileSync(join(dir, 'personas', 'fresh.md'), 'mine\n');
    for (const runtime of ['runner', 'model'] as const) {
      await newCard({ ...fresh, runtime });
      rmSync(join(dir, 'cards', 'fresh.card.yaml'));
    }
    expect(readFileSync(join(dir, 'bots', 'fresh.mjs'), 'utf8')).toBe('// mine\n');
    expect(readFileSync(join(dir, 'personas', 'fresh.md'), 'utf8')).toBe('mine\n');
  });

  it('never overwrites one', async () => {
    await initHome({ dir, human: 'alvis', environment });
    const options = { home: dir, stateDir: join(dir, 'state'), runtime: 'model' } as const;
    await expect(newCard({ ...options, id: 'adolf' })).rejects.toThrow(/there already/);
    await expect(newCard({ ...options, id: '../evil' })).rejects.toThrow(InvalidValueError);
  });
});

describe('operations on Cards', () => {
  it('lint the work tree before a commit, and a commit by name', async () => {
    await initHome({ dir, human: 'alvis', environment });
    writeFileSync(join(dir, 'cards', 'adolf.card.yaml'), 'id: adolf\n');
    expect((await lintCards(view())).some(isError)).toBe(true);
    expect(await lintCards(view({ ref: 'HEAD' }))).toEqual([]);
    await expect(lintCards(view({ ref: '--all' }))).rejects.toThrow(/no commit of this home/);
    await expect(showCard(view({ ref: 'HEAD' }), 'ghost')).rejects.toThrow(/There are: adolf/);
  });

  it('list and show what is served where the files as they lie there are refused', async () => {
    const { commit } = await initHome({ dir, human: 'alvis', environment });
    const sound = await listCards(view());
    expect(sound.inPlace).toBeUndefined();
    const bad = join(dir, 'cards', 'adolf.card.yaml');
    writeFileSync(bad, 'id: adolf\n');
    const listed = await listCards(view());
    expect(listed.rows).toEqual(sound.rows);
    expect(listed.inPlace).toMatchObject({ commit });
    expect(listed.inPlace?.problems.every(({ file }) => file === 'cards/adolf.card.yaml')).toBe(
      true,
    );
    expect(await showCard(view(), 'adolf')).toMatchObject({ inPlace: { commit } });
    await expect(showCard(view(), 'ghost')).rejects.toThrow(/"ghost" in [0-9a-f]{12}; see/);
    await lastGoodFile(join(dir, 'state')).write(commit);
    const who = ['-c', 'user.name=T', '-c', 'user.email=t@localhost'];
    git(...who, 'commit', '-qam', 'Break it');
    expect((await listCards(view())).inPlace?.commit).toBe(commit);
    await expect(listCards(view({ ref: 'HEAD' }))).rejects.toThrow(/HEAD has \d+ problems/);
    rmSync(join(dir, 'state', 'registry.json'));
    await expect(listCards(view())).rejects.toThrow(/work tree has \d+ problems/);
  });

  it('keep a key that is there, and refuse a file that is none', async () => {
    const state = join(parent, 'state');
    const key = await cardKey(state, 'adolf');
    expect(await cardKey(state, 'adolf')).toEqual(key);
    expect(key).not.toHaveProperty('d');
    writeFileSync(join(state, 'keys', 'adolf.jwk.json'), '{}');
    await expect(cardKey(state, 'adolf')).rejects.toThrow(/not an Ed25519 key/);
  });
});

describe('the catalog', () => {
  it('lints clean, without a warning', async () => {
    const shipped = view({ home: catalogFolder(), defaultHuman: 'operator' });
    expect(await lintCards(shipped)).toEqual([]);
    const { rows } = await listCards(shipped);
    const runtimes = new Set(rows.map(({ runtime }) => runtime));
    expect([...runtimes].sort()).toEqual([
      'executor',
      'human',
      'model',
      'rehearsal',
      'router',
      'runner',
    ]);
    const research = rows.find(({ id }) => id === 'researcher');
    expect(research).toMatchObject({ trust: 'sandboxed', queue: 'researcher' });
  });

  it('is found from the sources and from dist alike', () => {
    const root = packageRoot();
    expect(existsSync(join(root, 'cards', 'catalog', 'adolf.card.yaml'))).toBe(true);
    expect(packageRoot(join(root, 'dist', 'cards', 'registry'))).toBe(root);
    expect(() => packageRoot(tmpdir())).toThrow(/No cardmesh package/);
  });
});

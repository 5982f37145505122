import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  type CardRegistry,
  type CardRegistryOptions,
  openCardRegistry,
} from '../../cards/registry/card-registry.ts';
import { CardsRefusedError } from '../../cards/registry/cards-refused.ts';
import { cardHistory, diffCards } from '../../cards/registry/card-history.ts';
import { gitIn } from '../../cards/registry/git.ts';
import type { RegistryEvent } from '../../cards/registry/registry-events.ts';
import { systemClock } from '../../fabric/telemetry/system-clock.ts';
import { cardHome, type CardHome, gitEnvironment } from '../support/card-home.ts';
import { recordingLog } from '../support/recording-log.ts';

let home: CardHome;
const opened: CardRegistry[] = [];

beforeEach(() => {
  home = cardHome();
});

afterEach(async () => {
  await Promise.all(opened.splice(0).map((registry) => registry.close()));
  home.remove();
});

async function open(change: Partial<CardRegistryOptions> = {}) {
  const log = recordingLog();
  const registry = await openCardRegistry({
    home: home.dir,
    stateDir: home.stateDir,
    branch: 'main',
    defaultHuman: () => 'operator',
    environment: gitEnvironment,
    clock: systemClock,
    log,
    ...change,
  });
  opened.push(registry);
  const events: RegistryEvent[] = [];
  registry.onChange((event) => events.push(event));
  return { registry, log, events };
}

const spoil = () => {
  home.write('cards/adolf.card.yaml', 'id: adolf\nnme: Adolf\n');
  return home.commit('Spoil Adolf');
};

describe('the card registry', () => {
  it('serves the committed tree, not the dirty work tree', async () => {
    home.card({ name: 'Not committed' });
    const { registry } = await open();
    expect(registry.card('adolf')?.name).toBe('Adolf');
    expect(registry.current().commit).toBe(home.git('rev-parse', 'HEAD'));
    expect(registry.current().persona('adolf')).toBe('# Adolf\n');
    expect(registry.current().persona('operator')).toBeUndefined();
  });

  it('is the Directory that the fabric asks', async () => {
    const { registry } = await open();
    const directory = registry.directory();
    expect(directory.agents().map(({ agentId }) => agentId)).toEqual(['adolf', 'operator']);
    expect(directory.defaultHuman()).toBe('operator');
    expect(directory.agent('ghost')).toBeUndefined();
    expect(directory.agent('adolf')).toMatchObject({
      queue: 'adolf',
      effects: 'none',
      admit: ['human', 'trusted'],
      responsibleHuman: 'operator',
      commit: registry.current().commit,
    });
  });

  it('serves a good commit within 2 s and says what changed', async () => {
    const { registry, events } = await open();
    home.card({ id: 'berta', persona: undefined });
    home.card({ version: '1.1.0' });
    const committedAt = performance.now();
    const commit = home.commit('Add Berta');
    await vi.waitFor(() => {
      expect(registry.current().commit).toBe(commit);
    }, 5_000);
    expect(performance.now() - committedAt).toBeLessThan(2_000);
    expect(events).toEqual([
      { kind: 'swapped', commit, added: ['berta'], changed: ['adolf'], removed: [] },
    ]);
  });

  it('sees a branch whose refs were packed', async () => {
    const { registry } = await open({ pollMs: 100 });
    home.card({ version: '2.0.0' });
    const commit = home.commit();
    home.git('pack-refs', '--all');
    await vi.waitFor(() => {
      expect(registry.current().commit).toBe(commit);
    }, 5_000);
  });

  it('tells a change of persona text and an agent that went', async () => {
    const { registry, events } = await open();
    home.write('personas/adolf.md', '# Adolf, again\n');
    home.commit();
    await registry.reload();
    home.git('rm', '-q', 'cards/adolf.card.yaml');
    home.commit();
    await registry.reload();
    expect(
      events.map((event) => event.kind === 'swapped' && [event.changed, event.removed]),
    ).toEqual([
      [['adolf'], []],
      [[], ['adolf']],
    ]);
    expect(registry.card('adolf')).toBeUndefined();
    expect(registry.directory().agent('adolf')).toBeUndefined();
  });

  it('keeps the last good set while the newest is bad, loudly, and over restarts', async () => {
    const first = await open();
    const good = first.registry.current().commit;
    const bad = spoil();
    await first.registry.reload();
    expect(first.registry.current().commit).toBe(good);
    expect(first.events).toEqual([expect.objectContaining({ kind: 'refused', commit: bad })]);
    expect(first.log.lines.filter(({ level }) => level === 'error')).toEqual([
      expect.objectContaining({ event: 'cards.refused' }),
    ]);

    const second = await open();
    expect(second.registry.current().commit).toBe(good);
    expect(second.registry.card('adolf')?.name).toBe('Adolf');
    expect(second.registry.refusal()).toMatchObject({ commit: bad });
    expect(second.log.lines.some(({ event }) => event === 'cards.refused')).toBe(true);

    home.card({ name: 'Adolf II' });
    home.commit('Repair Adolf');
    await second.registry.reload();
    expect(second.registry.refusal()).toBeUndefined();
    expect(second.registry.card('adolf')?.name).toBe('Adolf II');
  });

  it('refuses a set in which a removed agent is still named', async () => {
    home.card({ id: 'berta', persona: undefined, mayCall: ['adolf'] });
    home.commit();
    const { registry } = await open();
    home.git('rm', '-q', 'cards/adolf.card.yaml');
    home.commit();
    await registry.reload();
    expect(registry.refusal()?.problems.map(({ code }) => code)).toContain('UNKNOWN_AGENT');
    expect(registry.card('adolf')).toBeDefined();
  });

  it('starts on nothing when no commit is good, and names every problem', async () => {
    spoil();
    await expect(open()).rejects.toThrow(CardsRefusedError);
    await expect(open()).rejects.toThrow(/cards\/adolf\.card\.yaml:2:1 error UNKNOWN_KEY/);
  });

  it('says what to do where the branch has no commit', async () => {
    await expect(open({ branch: 'other' })).rejects.toThrow(/no commit.*mesh init/);
  });

  it('does not follow links, and warns of files that are not read', async () => {
    symlinkSync('/etc/hostname', join(home.dir, 'personas', 'leak.md'));
    home.write('cards/extra.card.yml', 'id: extra\n');
    home.commit();
    const { registry } = await open();
    expect(registry.current().warnings.map(({ file, code }) => [file, code])).toEqual([
      ['cards/extra.card.yml', 'IGNORED_FILE'],
      ['personas/leak.md', 'IGNORED_FILE'],
    ]);
  });

  it('puts real folders into a runner command', async () => {
    const command = ['node', '{catalog}/bots/repo-report.mjs', '{home}/x'];
    const bot = { id: 'bot', runtime: 'runner', needs: undefined, persona: undefined };
    home.card({ ...bot, runner: { command } });
    home.commit();
    const { registry } = await open();
    const [, script, file] = registry.card('bot')?.runner?.command ?? [];
    expect(script).toMatch(/^\/.*\/cards\/catalog\/bots\/repo-report\.mjs$/);
    expect(file).toBe(join(home.dir, 'x'));
  });

  it('follows a remote, and goes on with what it has when the remote is gone', async () => {
    const clone = mkdtempSync(join(tmpdir(), 'card-clone-'));
    execFileSync('git', ['clone', '-q', home.dir, clone], { env: gitEnvironment });
    const follow = { home: clone, stateDir: join(clone, 'state'), remote: 'origin', fetchMs: 100 };
    const { registry, log } = await open(follow);
    home.card({ version: '3.0.0' });
    const commit = home.commit();
    await vi.waitFor(() => {
      expect(registry.current().commit).toBe(commit);
    }, 5_000);
    home.remove();
    await vi.waitFor(() => {
      expect(log.lines.some(({ event }) => event === 'cards.fetch-failed')).toBe(true);
    }, 5_000);
    expect(registry.card('adolf')?.version).toBe('3.0.0');
    await registry.close();
    rmSync(clone, { recursive: true, force: true });
  });

  it('lets one bad listener stop no other', async () => {
    const { registry, events, log } = await open();
    registry.onChange(() => {
      throw new Error('a bug of the listener');
    });
    const late: string[] = [];
    const stop = registry.onChange(({ commit }) => late.push(commit));
    home.card({ version: '4.0.0' });
    home.commit();
    await registry.reload();
    stop();
    home.card({ version: '4.0.1' });
    home.commit();
    await registry.reload();
    expect(events).toHaveLength(2);
    expect(late).toHaveLength(1);
    expect(log.lines.some(({ event }) => event === 'cards.listener-failed')).toBe(true);
  });
});

describe('card history', () => {
  it('names who changed an agent, newest first', async () => {
    home.card({ version: '1.1.0' });
    const commit = home.commit('Sharpen Adolf');
    home.card({ id: 'berta', persona: undefined });
    home.commit('Add Berta');
    const git = gitIn({ dir: home.dir, environment: gitEnvironment });
    const history = await cardHistory(git, 'adolf');
    expect(history.map(({ subject }) => subject)).toEqual(['Sharpen Adolf', 'Start']);
    expect(history[0]).toMatchObject({ commit, author: 'Test' });
    await expect(cardHistory(git, '--all')).rejects.toThrow();
  });

  it('tells two commits apart by agent and field', async () => {
    const from = home.git('rev-parse', 'HEAD');
    home.card({ version: '1.1.0', queue: { concurrency: 3 } });
    home.card({ id: 'berta', persona: undefined });
    home.write('personas/adolf.md', '# Other\n');
    home.commit();
    const git = gitIn({ dir: home.dir, environment: gitEnvironment });
    const [adolf, berta] = await diffCards(git, from, 'main');
    expect(adolf).toMatchObject({ agentId: 'adolf', kind: 'changed', isPersonaChanged: true });
    expect(adolf?.fields.map(({ field, before, after }) => [field, before, after])).toEqual([
      [
        'queue',
        expect.stringContaining('"concurrency":1'),
        expect.stringContaining('"concurrency":3'),
      ],
      ['version', '"1.0.0"', '"1.1.0"'],
    ]);
    expect(berta).toMatchObject({ agentId: 'berta', kind: 'added' });
    await expect(diffCards(git, 'ghost', 'main')).rejects.toThrow(/"ghost" is no commit/);
  });

  it('calls a Card that is there and not sound neither removed nor added', async () => {
    const sound = home.git('rev-parse', 'HEAD');
    home.write('cards/adolf.card.yaml', 'id: adolf\n\ttrust: holy\n');
    const broken = home.commit();
    home.card({ id: 'berta', persona: undefined });
    const beside = home.commit();
    home.write('cards/adolf.card.yaml', 'id: berta\n');
    const other = home.commit();
    home.git('rm', '-q', 'cards/adolf.card.yaml');
    const gone = home.commit();
    const git = gitIn({ dir: home.dir, environment: gitEnvironment });
    const kinds = async (from: string, to: string) =>
      (await diffCards(git, from, to)).map(({ agentId, kind, problems }) => [
        ...[agentId, kind],
        problems.length > 0,
      ]);
    expect(await kinds(sound, broken)).toEqual([['adolf', 'unsound', true]]);
    expect(await kinds(broken, sound)).toEqual([['adolf', 'unsound', true]]);
    expect(await kinds(broken, beside)).toEqual([['berta', 'added', false]]);
    expect(await kinds(beside, other)).toEqual([['adolf', 'unsound', true]]);
    expect(await kinds(other, gone)).toEqual([['adolf', 'unsound', true]]);
    expect(await kinds(sound, gone)).toEqual([
      ['adolf', 'removed', false],
      ['berta', 'added', false],
    ]);
  });
});

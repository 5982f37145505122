import { describe, expect, it } from 'vitest';
import { toProblemLine } from '../../cards/schema/card-problem.ts';
import { readCard } from '../../cards/schema/read-card.ts';
import { thumbprint } from '../../cards/schema/public-key.ts';
import { cardBytes } from '../support/card-yaml.ts';

const nowMs = Date.parse('2026-06-01T00:00:00Z');
const file = 'cards/adolf.card.yaml';

const read = (change: Readonly<Record<string, unknown>> = {}) =>
  readCard(file, cardBytes(change), nowMs);
const readText = (text: string) => readCard(file, new TextEncoder().encode(text), nowMs);
const codes = (change: Readonly<Record<string, unknown>>) =>
  read(change).problems.map(({ code, path }) => `${code} ${path}`);

const inventory = (change: Readonly<Record<string, unknown>> = {}) => ({
  runtime: 'executor',
  needs: undefined,
  persona: undefined,
  effects: 'workspace',
  execution: {
    executor: 'codex',
    models: [{ id: 'gpt-large', efforts: ['low', 'high'] }],
    defaults: { model: 'gpt-large', effort: 'high' },
    verification: {
      source: 'operator_probe',
      verifiedAt: '2026-05-01T00:00:00Z',
      executorVersion: '0.1',
    },
    ...change,
  },
});

describe('a sound Card', () => {
  it('is read with its defaults and durations in ms', () => {
    const { card, problems } = read({ queue: { lease: '90s' }, timeouts: { run: '2h' } });
    expect(problems).toEqual([]);
    expect(card?.queue).toEqual({
      project: 'adolf',
      concurrency: 1,
      leaseMs: 90_000,
      heartbeatMs: 30_000,
      asyncOnly: false,
    });
    expect(card?.timeouts.runMs).toBe(7_200_000);
    expect(card?.admit).toEqual(['human', 'trusted']);
    expect(card?.mayCall).toEqual([]);
  });

  it('keeps the quota windows of a model agent, each with a scope', () => {
    const windows = [{ id: 'five-hours', cap: 60, length: '5h', kind: 'anchored' }];
    const { card } = read({
      id: 'adolf',
      needs: undefined,
      cost: 'flat-quota',
      tier: 'large',
      model: { gateway: 'kimi', contextTokens: 131_072, windows },
    });
    expect(card?.model?.windows).toEqual([
      {
        id: 'five-hours',
        unit: 'request',
        cap: 60,
        lengthMs: 18_000_000,
        kind: 'anchored',
        reserveInteractive: 0.25,
        scope: 'adolf',
      },
    ]);
  });

  it('reads opening hours as minutes on the wall clock', () => {
    const { card } = read({ availability: { hours: { from: '08:30', to: '24:00', zone: 'UTC' } } });
    expect(card?.availability.windows[0]).toMatchObject({ fromMinute: 510, toMinute: 1_440 });
  });

  it('takes a vacation by its first and last day, in the zone of the hours', () => {
    const days = { from: '2026-12-24', until: '2027-01-03' };
    const hours = { from: '08:00', to: '22:00', zone: 'Europe/Berlin' };
    const vacationOf = (terms: object) => read({ availability: terms }).card?.availability.vacation;
    expect(vacationOf({ vacation: days })).toEqual({ ...days, zone: 'UTC' });
    expect(vacationOf({ vacation: days, hours })).toEqual({ ...days, zone: 'Europe/Berlin' });
    expect(vacationOf({ vacation: true })).toBe(true);
    const wrong = read({ availability: { vacation: { ...days, until: '2026-12-01' } } }).problems;
    const problems = wrong.map(({ path, message }) => `${path}: ${message}`);
    expect(problems).toEqual([expect.stringContaining('until is the last day away')]);
  });
});

describe('the shape', () => {
  it('reports every problem at once, each at its line and column', () => {
    const { card, problems } = readText(
      [
        'id: adolf',
        'name: A',
        'desciption: typed wrong',
        'version: "1.0.0"',
        'skills:',
        '  - {id: audit, name: Audit, description: d, tags: [a], extra: 1}',
        'runtime: model',
        'needs: {tier: huge}',
        'trust: sandboxed',
        'cost: free-local',
        'effects: none',
        'secrets: [TOKEN]',
      ].join('\n'),
    );
    expect(card).toBeUndefined();
    expect(problems.map(({ line, column, path, code }) => [line, column, path, code])).toEqual([
      [1, 1, 'description', 'MISSING'],
      [3, 1, 'desciption', 'UNKNOWN_KEY'],
      [6, 57, 'skills[0].extra', 'UNKNOWN_KEY'],
      [8, 9, 'needs.tier', 'INVALID_VALUE'],
      [12, 1, 'secrets', 'CONFINED'],
    ]);
    expect(toProblemLine(problems[1] ?? expect.fail())).toBe(
      `${file}:3:1 error UNKNOWN_KEY (desciption): The key "desciption" is not known here. Did you mean "description"?`,
    );
  });

  it.each([
    ['duplicate keys', 'a: 1\na: 2\n', 'DUPLICATE_KEY'],
    ['an anchor', 'a: &x 1\n', 'YAML_REFERENCE'],
    ['a tag', 'a: !run 1\n', 'YAML_REFERENCE'],
    ['two documents', 'a: 1\n---\nb: 1\n', 'MULTIPLE_DOCUMENTS'],
    ['a tab', 'a: "x\ty"\n', 'TAB'],
    ['a prototype key', '__proto__: {id: x}\n', 'YAML_REFERENCE'],
    ['broken YAML', 'a: [1\n', 'NOT_YAML'],
    ['a nest that is too deep', '['.repeat(100_000), 'NOT_YAML'],
    ['a list', '- a\n', 'INVALID_VALUE'],
    ['nothing', '', 'INVALID_VALUE'],
  ])('refuses %s', (_name, text, code) => {
    expect(readText(text).problems[0]?.code).toBe(code);
  });

  it('reads 256 KiB and not one byte more', () => {
    const bytes = cardBytes();
    const padded = new Uint8Array(256 * 1024).fill(0x20);
    padded.set(bytes);
    padded.fill(0x0a, bytes.length, bytes.length + 1);
    expect(readCard(file, padded, nowMs).problems).toEqual([]);
    const longer = new Uint8Array(256 * 1024 + 1).fill(0x20);
    longer.set(bytes);
    expect(readCard(file, longer, nowMs).problems[0]?.code).toBe('TOO_LARGE');
  });

  it('refuses text that is not UTF-8', () => {
    expect(readCard(file, new Uint8Array([0xff, 0xfe]), nowMs).problems[0]?.code).toBe('NOT_UTF8');
  });

  it.each(['0s', '5', '5 h', '1.5h', '-5m', '400d', '5w'])('refuses the duration %s', (lease) => {
    expect(codes({ queue: { lease } })).toEqual(['INVALID_VALUE queue.lease']);
  });

  it('refuses a Card in a file of another name', () => {
    expect(codes({ id: 'other' })).toEqual(['FILE_NAME id']);
  });

  it('refuses a private key and names it', () => {
    const x = 'A'.repeat(43);
    const identity = { kty: 'OKP', crv: 'Ed25519', x, kid: thumbprint(x) };
    expect(codes({ identity })).toEqual([]);
    expect(codes({ identity: { ...identity, d: x } })).toEqual(['PRIVATE_KEY_IN_CARD identity.d']);
    expect(codes({ identity: { ...identity, kid: 'mine' } })).toEqual(['KEY_ID identity.kid']);
  });
});

describe('the rules of one Card', () => {
  it('gives no secret and no way out to a confined agent', () => {
    for (const trust of ['sandboxed', 'untrusted'])
      expect(
        codes({
          trust,
          secrets: ['TOKEN'],
          tools: ['notify'],
          effects: undefined,
          unsandboxed: 'accepted',
          memory: { bank: 'own', reads: ['shared', 'alvis'] },
          verification: { reviewer: true },
        }).sort(),
      ).toEqual(
        [
          'CONFINED secrets',
          'CONFINED tools[0]',
          'CONFINED effects',
          'CONFINED unsandboxed',
          'CONFINED memory',
          'CONFINED verification',
        ].sort(),
      );
  });

  it.each(['MESH_SECRET', 'MESH_TOKEN', 'MESH_GATEWAY_KEY', 'MESH_ANYTHING'])(
    'gives no Card the mesh’s own %s',
    (name) => {
      for (const trust of ['trusted', 'sandboxed']) {
        expect(codes({ trust, env: ['LANG', name] })).toContain('MESH_VARIABLE env[1]');
      }
      expect(codes({ trust: 'trusted', secrets: [name] })).toEqual(['MESH_VARIABLE secrets[0]']);
      expect(codes({ env: ['LANG', 'SMESH_KEY'] })).toEqual([]);
    },
  );

  it('warns that schedules are not served', () => {
    const daily = { id: 'daily', cron: '0 8 * * *', zone: 'UTC', title: 'Look around' };
    const { card, problems } = read({ schedules: [daily] });
    expect(card?.schedules).toHaveLength(1);
    expect(problems.map(({ severity, code, path }) => `${severity} ${code} ${path}`)).toEqual([
      'warning NOT_SERVED schedules',
    ]);
  });

  it.each(['on-demand', { onDemand: true }])('warns that nothing wakes %j', (availability) => {
    const { card, problems } = read({ availability });
    expect(card?.availability.onDemand).toBe(true);
    expect(problems.map(({ severity, code, path }) => `${severity} ${code} ${path}`)).toEqual([
      'warning NOT_SERVED availability',
    ]);
  });

  it('lets human be a person on both sides only', () => {
    expect(codes({ trust: 'human' })).toEqual(['HUMAN_TRUST trust']);
    expect(codes({ runtime: 'human', needs: undefined })).toEqual(['HUMAN_TRUST trust']);
  });

  it.each([
    ['a default model off the list', { defaults: { model: 'other' } }, 'DEFAULT_NOT_LISTED'],
    ['a default effort off the list', { defaults: { effort: 'max' } }, 'DEFAULT_NOT_LISTED'],
    ['a model twice', { models: [{ id: 'a' }, { id: 'a' }], defaults: {} }, 'DUPLICATE_MODEL'],
    [
      'an effort twice',
      { models: [{ id: 'a', efforts: ['low', 'low'] }], defaults: {} },
      'DUPLICATE_EFFORT',
    ],
    ['a placeholder', { models: [{ id: 'exact-id' }], defaults: {} }, 'PLACEHOLDER_MODEL'],
  ])('refuses %s', (_name, change, code) => {
    expect(read(inventory(change)).problems.map((problem) => problem.code)).toEqual([code]);
  });

  it('takes a verified inventory only with a known source and an instant in the past', () => {
    const good = inventory().execution.verification;
    const verified = (change: Readonly<Record<string, unknown>>) =>
      codes(inventory({ verification: { ...good, ...change } }));
    const path = 'execution.verification';
    expect(codes(inventory())).toEqual([]);
    expect(verified({ verifiedAt: '2026-06-01T00:00:00Z' })).toEqual([]);
    expect(verified({ verifiedAt: '2026-06-01T00:00:00.001Z' })).toEqual([
      `VERIFIED_IN_FUTURE ${path}.verifiedAt`,
    ]);
    expect(verified({ verifiedAt: '1 June 2026' })).toEqual([`INVALID_VALUE ${path}.verifiedAt`]);
    expect(verified({ source: 'guess' })).toEqual([`INVALID_VALUE ${path}.source`]);
    expect(verified({ executorVersion: '' })).toEqual([`INVALID_VALUE ${path}.executorVersion`]);
    expect(codes(inventory({ verification: undefined }))).toEqual([
      'NOT_VERIFIED execution.models',
    ]);
  });

  it('holds the heartbeat to a third of the lease', () => {
    expect(codes({ queue: { lease: '90s', heartbeat: '30s' } })).toEqual([]);
    expect(codes({ queue: { lease: '90s', heartbeat: '31s' } })).toEqual([
      'HEARTBEAT queue.heartbeat',
    ]);
  });

  it('lets nothing metered in without an opt-in', () => {
    const needs = { tier: 'large', cost: ['flat-quota', 'metered'] };
    expect(codes({ needs })).toEqual(['METERED_WITHOUT_OPT_IN needs.cost[1]']);
    expect(codes({ needs, optIn: { metered: ['haiku'] } })).toEqual([]);
    const paid = { needs: undefined, tier: 'large', cost: 'metered' };
    const model = { gateway: 'haiku', contextTokens: 1 };
    expect(codes({ ...paid, model })).toEqual(['METERED_GROUP model.gateway']);
    expect(codes({ ...paid, model: { ...model, gateway: 'paid/haiku' } })).toEqual([]);
  });

  it('wants the block that its runtime works by', () => {
    const bare = { needs: undefined, persona: undefined };
    expect(codes({ ...bare, runtime: 'runner' })).toEqual(['RUNTIME_BLOCK runtime']);
    expect(codes({ ...bare, runtime: 'model' })).toEqual(['BACKBONE runtime']);
    expect(codes({ runner: { command: ['node'] } })).toEqual(['RUNTIME_BLOCK runner']);
    expect(codes({ ...bare, runtime: 'runner', runner: { command: [] } })).toEqual([
      'INVALID_VALUE runner.command',
    ]);
  });

  it('warns that a model agent which says nothing of effects counts as external', () => {
    const { card, problems } = read({ effects: undefined });
    expect(problems.map(({ severity, code }) => [severity, code])).toEqual([
      ['warning', 'EFFECTS_EXTERNAL'],
    ]);
    expect(card).toBeDefined();
  });
});

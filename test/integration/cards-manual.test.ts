import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { packetFor, readRunnerResult } from '../../agents/runtimes/runner-packet.ts';
import { lintCards } from '../../cards/registry/card-operations.ts';
import { packageRoot } from '../../cards/registry/package-root.ts';
import { Card, Runtime } from '../../cards/schema/card.ts';
import { gitEnvironment } from '../support/card-home.ts';
import { meshHome, type MeshHome } from '../support/mesh-home.ts';
import { recordedRun, runningState } from '../support/task-run.ts';

const manual = readFileSync(join(packageRoot(), 'docs', 'cards.md'), 'utf8');
const blocks = (language: string) =>
  [...manual.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, 'gm'))].map(
    ([, text = '']) => text,
  );

/** Every property name anywhere in a JSON Schema. */
function namesIn(schema: unknown): readonly string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const own = 'properties' in schema ? Object.keys(schema.properties as object) : [];
  return [...own, ...Object.values(schema).flatMap(namesIn)];
}

const isTold = (name: string) =>
  new RegExp(`(^|[^A-Za-z_])${name}([^A-Za-z_]|$)`, 'm').test(manual);

describe('the manual of Cards', () => {
  it('tells every field of the schema', () => {
    const names = namesIn(z.toJSONSchema(Card, { io: 'input', unrepresentable: 'any' }));
    expect(names).toContain('vramMib');
    // A JWK is copied whole from what `mesh cards key` prints.
    const key = new Set(['kty', 'crv', 'x', 'kid', 'use', 'alg']);
    expect([...new Set(names)].filter((name) => !key.has(name) && !isTold(name))).toEqual([]);
  });

  it('tells every key of the packet and of the result', () => {
    const state = runningState({ definition: { effects: 'external' } });
    const packet = packetFor(recordedRun(state));
    const keys = [...Object.keys(packet), ...Object.keys(packet.authorization)];
    expect(keys.filter((key) => !isTold(key))).toEqual([]);
    expect(packet.allowed_status.filter((status) => !isTold(status))).toEqual([]);
    const result = {
      ...{ run_id: packet.run_id, status: 'completed', summary: 's', review_note: 'n' },
      ...{ action_status: 'performed', receipt_id: packet.action?.receipt_id },
    };
    expect(readRunnerResult(JSON.stringify(result), packet, 0)).toMatchObject({ ok: true });
    const told = [...Object.keys(result), 'wake_at', 'event_id', 'decision_prompt'];
    expect(told.filter((key) => !isTold(key))).toEqual([]);
  });

  it.each(Runtime.options)('has a place for runtime %s', (runtime) => {
    expect(manual).toMatch(new RegExp(`^### .*\`${runtime}\``, 'm'));
  });
});

describe('the examples of the manual', () => {
  let home: MeshHome;
  beforeAll(async () => {
    home = await meshHome();
  });
  afterAll(() => {
    home.remove();
  });

  it('are sound Cards, and its program is one', async () => {
    const [program = ''] = blocks('js');
    const packet = packetFor(recordedRun(runningState({ definition: { effects: 'external' } })));
    const input = `${JSON.stringify(packet)}\n`;
    const args = ['--input-type=module', '-e', program];
    const said = execFileSync(process.execPath, args, { input, encoding: 'utf8' });
    expect(readRunnerResult(said, packet, 0)).toMatchObject({ ok: true });
    mkdirSync(join(home.dir, 'bots'));
    writeFileSync(join(home.dir, 'bots', 'night-report.mjs'), program);
    home.write('personas/translator.md', '# Translator\n');
    const cards = blocks('yaml');
    expect(cards.length).toBeGreaterThanOrEqual(7);
    for (const card of cards)
      home.write(`cards/${/^id: (.*)$/m.exec(card)?.[1] ?? ''}.card.yaml`, card);
    const view = { home: home.dir, defaultHuman: 'operator', environment: gitEnvironment };
    expect(await lintCards({ ...view, nowMs: Date.UTC(2026, 10, 30) })).toEqual([]);
  });
});

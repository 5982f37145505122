import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { exitCodeOf } from '../../cli/exit-codes.ts';
import { meshHome, type MeshHome } from '../support/mesh-home.ts';
import { mesh } from '../support/mesh-process.ts';

let home: MeshHome;
beforeEach(async () => {
  home = await meshHome();
});
afterEach(() => {
  home.remove();
});

/** A file of the home that makes every command and daemon fail half-way through its opening. */
const broken: Record<string, readonly [file: string, text: string, code: number]> = {
  'the list of tokens': ['state/tokens.json', 'no JSON', exitCodeOf.VALIDATION_ERROR],
  'the database of quotas': ['state/ledger.db', 'no database', exitCodeOf.FABRIC_DOWN],
};

/** Ends within seconds by itself; a process that hangs is found by the test's own time. */
describe('a mesh that can’t be opened', { timeout: 120_000 }, () => {
  it('ends a command with a wrong token, and keeps nothing of the home', async () => {
    const startMs = performance.now();
    const token = `mesh_${'0'.repeat(12)}_${'0'.repeat(64)}`;
    const wrong = await mesh({ home: home.dir, env: { MESH_TOKEN: token } }, 'tasks');
    expect([wrong.code, wrong.stdout]).toEqual([exitCodeOf.UNAUTHENTICATED, '']);
    expect(wrong.stderr).toContain('does not take this token');
    expect(performance.now() - startMs).toBeLessThan(30_000);
    const right = await mesh({ home: home.dir }, 'tasks');
    expect([right.code, right.stderr]).toEqual([0, '']);
  });

  it.each(Object.entries(broken))(
    'ends each of them when %s is broken, and all of them work once it is mended',
    async (_what, [file, text, code]) => {
      const path = join(home.dir, file);
      expect((await mesh({ home: home.dir }, 'tasks')).code).toBe(0);
      const good = readFileSync(path);
      const verbs = [
        ['tasks'],
        ['up', '--port', '0'],
        ['serve', 'understudy', '--port', '0'],
        ['keeper'],
      ];
      writeFileSync(path, text);
      for (const verb of verbs) {
        const ended = await mesh({ home: home.dir }, ...verb);
        expect([verb[0], ended.code, ended.stderr]).toEqual([
          verb[0],
          code,
          expect.stringContaining('mesh: ') as unknown,
        ]);
      }
      writeFileSync(path, good);
      expect((await mesh({ home: home.dir }, 'tasks')).code).toBe(0);
    },
  );

  it('gives back what it took beside a board that is not there', async () => {
    const elsewhere = `${home.dir}-elsewhere`;
    cpSync(home.dir, elsewhere, { recursive: true });
    const ended = await mesh(
      { home: elsewhere },
      ...['serve', 'nobody', '--port', '0', '--token', 'x', '--board', 'mesh:http://127.0.0.1:9'],
    );
    expect(ended.code).toBe(exitCodeOf.NOT_FOUND);
    expect(readdirSync(join(elsewhere, 'state/beside'))).toEqual([]);
  });
});

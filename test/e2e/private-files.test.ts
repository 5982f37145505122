import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { meshHome } from '../support/mesh-home.ts';
import { mesh } from '../support/mesh-process.ts';

/** Files below `folder` that anybody but their owner may do anything with. */
const openTo = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (name) => (statSync(join(folder, name)).mode & 0o077) !== 0,
  );

it.each([
  ['doctor', 'home.lock'],
  ['tasks', 'home.lock'],
  ['token create', 'tokens.json.lock'],
])(
  'leaves nothing in the home’s state that others may read: mesh %s as the first command',
  async (verb, made) => {
    const home = await meshHome();
    try {
      await mesh({ home: home.dir }, ...verb.split(' '));
      expect(readdirSync(join(home.dir, 'state'))).toContain(made);
      expect(openTo(join(home.dir, 'state'))).toEqual([]);
    } finally {
      home.remove();
    }
  },
  60_000,
);

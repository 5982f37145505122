import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadConfig, type Environment } from '../../cli/config.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const shipped = join(import.meta.dirname, '../../cards/catalog/mesh.yaml');
const empty: Environment = {
  ...{ home: undefined, url: undefined, token: undefined, meshSecret: undefined },
  ...{ gatewayUrl: undefined, gatewayKey: undefined, logLevel: undefined, noColor: true, all: {} },
};

describe('mesh.yaml', () => {
  const written = async (more: string) => {
    const home = await temporaryFolder();
    writeFileSync(join(home, 'mesh.yaml'), readFileSync(shipped, 'utf8') + more);
    return loadConfig(home, empty);
  };

  it('is read as shipped, and with a gateway', async () => {
    expect(await written('')).toMatchObject({ defaultHuman: 'operator', gatewayUrl: undefined });
    const url = 'http://127.0.0.1:4000';
    expect((await written(`gateway:\n  url: ${url}\n`)).gatewayUrl).toBe(url);
  });

  it.each([
    ['labHosts', 'labHosts: []\n', /labHosts/],
    [
      'gateway.timeout',
      'gateway:\n  url: http://127.0.0.1:4000\n  timeout: 5s\n',
      /gateway.*timeout/,
    ],
    ['a word of nobody', 'frontt: {}\n', /frontt/],
  ])('takes no setting that does nothing: %s', async (_key, more, words) => {
    await expect(written(more)).rejects.toThrow(words);
  });

  const mail = 'mail:\n  host: smtp.example.org\n  from: mesh@example.org\n';

  it('names people and how they are reached, at eight in the morning unless it says otherwise', async () => {
    const people = `people:\n  operator: { mail: o@example.org }\n  maria:\n    command: { run: ['{home}/tell'] }\n    digest: '19:30'\n    zone: Europe/Berlin\n  bob: { webhook: { url: 'http://ntfy:80/mesh' }, digest: off }\n`;
    const config = await written(people + mail);
    expect(config.people['operator']).toMatchObject({ digest: 480 });
    expect(config.people['maria']).toMatchObject({ digest: 1_170, zone: 'Europe/Berlin' });
    expect(config.people['bob']).toMatchObject({ digest: null });
    expect(config.mail).toMatchObject({ port: 587, tls: 'starttls' });
  });

  it.each([
    ['mail without a server', 'people:\n  operator: { mail: o@example.org }\n', /mail: .*server/],
    ['no way', 'people:\n  operator: {}\n', /people\.operator: one way/],
    [
      'two ways',
      `${mail}people:\n  operator: { mail: o@example.org, command: { run: [tell] } }\n`,
      /people\.operator: one way/,
    ],
    [
      'a secret in the open',
      'people:\n  operator: { webhook: { url: "https://hooks.example.org", secret: hunter2 } }\n',
      /people\.operator\.webhook\.secret: .*MESH_/,
    ],
    [
      'a login in an address',
      'people:\n  operator: { webhook: { url: "https://me:hunter2@hooks.example.org" } }\n',
      /people\.operator\.webhook\.url/,
    ],
    [
      'an open road',
      'people:\n  operator: { webhook: { url: "http://hooks.example.org" } }\n',
      /people\.operator\.webhook\.url/,
    ],
    ['mail in the clear', `${mail}  tls: none\n`, /mail\.tls/],
    ['half a login', `${mail}  user: mesh\n`, /mail: a login/],
    [
      'a digest that never comes',
      'people:\n  operator: { command: { run: [tell] }, digest: "24:00" }\n',
      /people\.operator\.digest/,
    ],
  ])('refuses %s', async (_what, more, words) => {
    await expect(written(more)).rejects.toThrow(words);
  });

  it.each([
    ['a tab', '\tfront: 1\n'],
    ['two colons', 'front: a: b\n'],
    ['an open list', 'front: [1,\n'],
    ['an open quote', 'front: "x\n'],
    ['a key twice', 'defaultHuman: twice\n'],
    ['bad indentation', 'front:\n  host: a\n port: 1\n'],
    ['an unknown alias', 'front: *nowhere\n'],
    ['two documents', '---\nfront: {}\n'],
  ])('says in one line what is no YAML, and where: %s', async (_what, more) => {
    const said = await written(more).catch((error: unknown) => (error as Error).message);
    expect(said).toMatch(/mesh\.yaml:\d+: .*[^.:]\. Correct the YAML at this place\.$/);
    expect(said).not.toMatch(/[\n^]/);
  });
});

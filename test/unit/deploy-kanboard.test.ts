import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';

const root = join(import.meta.dirname, '../..');
const folder = join(root, 'deploy/kanboard');

const Compose = z.object({
  services: z.record(
    z.string(),
    z.object({
      image: z.string(),
      restart: z.string(),
      ports: z.array(z.string()).default([]),
      command: z.array(z.string()).default([]),
      environment: z.record(z.string(), z.string()),
      volumes: z.array(z.string()).default([]),
      healthcheck: z.object({ test: z.array(z.string()) }).optional(),
    }),
  ),
  volumes: z.record(z.string(), z.null()),
});

const text = readFileSync(join(folder, 'compose.yaml'), 'utf8');
const { services, volumes } = Compose.parse(parse(text, { merge: true }));
const each = Object.entries(services);

it('pools by session: Kanboard reads the id it made in a statement of its own', () => {
  expect(services['pgbouncer']?.environment['POOL_MODE']).toBe('session');
  expect(services['kanboard']?.environment['DB_HOSTNAME']).toBe('pgbouncer');
});

it('listens on loopback only, and with Kanboard only', () => {
  expect(each.filter(([, { ports }]) => ports.length > 0).map(([name]) => name)).toEqual([
    'kanboard',
  ]);
  for (const port of services['kanboard']?.ports ?? []) expect(port).toMatch(/^127\.0\.0\.1:/);
});

it('holds no secret, and does not start without them', () => {
  const secrets = each.flatMap(([, { environment }]) =>
    Object.entries(environment).filter(([name]) => /PASSWORD|TOKEN|SECRET/.test(name)),
  );
  expect(secrets.length).toBeGreaterThanOrEqual(4);
  for (const [, value] of secrets) expect(value).toMatch(/^\$\{KANBOARD_[A-Z_]+:\?[^}]+\}$/);
});

it('keeps what the database has acknowledged', () => {
  const command = services['db']?.command.join(' ') ?? '';
  expect(command).toContain('fsync=on');
  expect(command).toContain('synchronous_commit=on');
  expect(text).not.toMatch(/(fsync|synchronous_commit|full_page_writes)\s*[=:]\s*'?off/);
  expect(services['db']?.volumes).toEqual(['db:/var/lib/postgresql/data']);
  expect(volumes).toHaveProperty('db');
});

it('pins each image, and watches each service that goes on running', () => {
  for (const [name, { image, healthcheck, restart }] of each) {
    const tag = image.replace(/\$\{\w+:-([^}]+)\}/, '$1').split(':')[1];
    expect([name, tag]).not.toEqual([name, undefined]);
    expect(tag).not.toBe('latest');
    if (restart !== 'no') expect([name, healthcheck]).not.toEqual([name, undefined]);
  }
});

it('is in the package, with a script that runs and without anybody’s secrets', () => {
  const { files } = z
    .object({ files: z.array(z.string()) })
    .parse(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')));
  expect(files).toEqual(expect.arrayContaining(['deploy/kanboard', '!deploy/kanboard/.env']));
  expect(statSync(join(folder, 'kanboard-dev.sh')).mode & 0o111).not.toBe(0);
});

import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { stringify } from 'yaml';
import { loadConfig } from '../../cli/config.ts';
import { noticesFindings } from '../../cli/doctor/notices-checks.ts';
import { lastNotice } from '../../fabric/domain/notice.ts';
import { appendAll, askedBy, claimedBy, questionTo, submitted } from '../support/board-builders.ts';
import { composedMesh, testEnvironment } from '../support/composed-mesh.ts';
import { littleSmtp } from '../support/little-smtp.ts';
import { meshHome } from '../support/mesh-home.ts';

const program = join(import.meta.dirname, '../fixtures/notify/notify.mjs');

async function homeWith(settings: object) {
  const home = await meshHome();
  onTestFinished(() => home.remove());
  home.write('mesh.yaml', stringify({ defaultHuman: 'operator', ...settings }));
  home.commit('Name people');
  return home;
}

const withEnvironment = (more: Readonly<Record<string, string>>) => ({
  ...testEnvironment,
  all: { ...testEnvironment.all, ...more },
});

interface Seen {
  readonly packet: { readonly kind: string; readonly text: string };
  readonly environment: Readonly<Record<string, string>>;
}

async function started(environment = withEnvironment({ MESH_CHAT_TOKEN: 'hush' })) {
  const command = { run: [process.execPath, program, 'delivered', '{home}/seen'] };
  const people = { operator: { command: { ...command, secrets: ['MESH_CHAT_TOKEN'] } } };
  const home = await homeWith({ people: { operator: { ...people.operator, digest: 'off' } } });
  const composed = await composedMesh(home.dir, { environment });
  onTestFinished(() => composed.mesh.stop());
  const { board } = composed.mesh;
  const own = { submitter: 'operator', responsible: 'operator', agentId: 'kimi' };
  const uid = await submitted(board, { title: 'Deploy', ...own });
  const gate = { kind: 'gate' as const, text: '\u001b[2JTonight?', options: ['approve', 'reject'] };
  const open = { question: questionTo(['operator'], gate) };
  const claim = claimedBy('kimi', { attempt: 1 });
  await appendAll(board, uid, [claim, askedBy('kimi', 2, ['operator'], open)]);
  composed.mesh.start();
  const file = join(home.dir, 'seen');
  const seen = () =>
    existsSync(file)
      ? readFileSync(file, 'utf8')
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line) as Seen)
      : [];
  return { composed, uid, seen };
}

describe('a mesh that knows how to reach its operator', () => {
  it('tells of a gate at once, by the program, and counts it', async () => {
    const { composed, uid, seen } = await started();
    const receiptOf = async () => lastNotice(await composed.stateOf(uid), 'operator')?.receipt;
    await vi.waitFor(async () => expect((await receiptOf())?.receiptId).toBe('chat-77'), 8_000);
    expect(seen()).toHaveLength(1);
    const { packet, environment } = seen()[0]!;
    expect(packet.text).toContain('kimi asks: Tonight?');
    expect(packet.text).toContain(`http://front.test/inbox/tasks/${uid}`);
    expect(environment['MESH_CHAT_TOKEN']).toBe('hush');
    const metrics = await (await composed.ask('/metrics')).text();
    expect(metrics).toContain('mesh_notices_total{kind="urgent",outcome="delivered"} 1');
  });

  it('tells nobody with MESH_NOTICES=off, nor without its secret', async () => {
    const off = { MESH_NOTICES: 'off', MESH_CHAT_TOKEN: 'hush' };
    for (const more of [off, {}] as const) {
      const { composed, uid, seen } = await started(withEnvironment(more));
      await composed.mesh.stop();
      expect(seen()).toEqual([]);
      expect(uid).toHaveLength(32);
    }
  });
});

describe('what the doctor says of notices', () => {
  const examined = async (settings: object, more: Readonly<Record<string, string>> = {}) => {
    const { dir } = await homeWith(settings);
    const environment = withEnvironment(more);
    const config = await loadConfig(dir, environment);
    const view = { home: dir, defaultHuman: 'operator', environment: environment.all, nowMs: 1 };
    const findings = await noticesFindings(config, environment, view);
    return findings.map(({ about, verdict, says }) => `${verdict} ${about}: ${says}`);
  };

  it('is that none are sent, and is no complaint', async () => {
    expect(await examined({})).toEqual([expect.stringMatching(/^ok notices: none are sent/)]);
  });

  it('is whom nobody knows, and which secret or program is not there', async () => {
    const run = ['{home}/no-such-program'];
    const people = {
      ghost: { command: { run: [process.execPath] } },
      operator: { command: { run, secrets: ['MESH_CHAT_TOKEN'] } },
    };
    const without = await examined({ people });
    expect(without).toContain('fail notices: ghost is no person of this home');
    expect(without).toContain('fail notices to operator: MESH_CHAT_TOKEN is not set');
    const [, , operator] = await examined({ people }, { MESH_CHAT_TOKEN: 'hush' });
    expect(operator).toMatch(/^fail notices to operator: .*no-such-program is no program/);
  });

  it('is whether a webhook answers, without showing it the secret', async () => {
    const seen: unknown[] = [];
    const server = createServer((request, response) => {
      seen.push(request.headers.authorization);
      response.writeHead(405).end();
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const settings = { people: { operator: { webhook: { url, secret: 'MESH_HOOK' } } } };
    const answers = await examined(settings, { MESH_HOOK: 'hush' });
    expect(answers).toEqual([
      expect.stringMatching(/^ok notices to operator: 127.0.0.1:\d+ answers/),
    ]);
    expect(seen).toEqual([undefined]);
    server.close();
    await once(server, 'close');
    expect((await examined(settings, { MESH_HOOK: 'hush' }))[0]).toMatch(/^fail .*nothing answers/);
  });

  it('is whether the mail server takes the login', async () => {
    const settings = async (kind: 'takes' | 'refuses-login') => {
      const { port } = await littleSmtp({ kind });
      const server = { host: '127.0.0.1', port, tls: 'none', from: 'mesh@example.org' };
      const mail = { ...server, user: 'mesh', password: 'MESH_MAIL_PASSWORD' };
      return { mail, people: { operator: { mail: 'operator@example.org' } } };
    };
    const secret = { MESH_MAIL_PASSWORD: 'hush' };
    expect(await examined(await settings('takes'), secret)).toEqual([
      expect.stringMatching(/^ok mail: .* takes the login/),
    ]);
    expect((await examined(await settings('refuses-login'), secret))[0]).toMatch(/^fail mail: /);
    expect(await examined(await settings('takes'))).toEqual([
      'fail mail: MESH_MAIL_PASSWORD is not set',
    ]);
  });
});

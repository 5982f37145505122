import { rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { meshHome, type MeshHome } from '../support/mesh-home.ts';
import { mesh, startMesh } from '../support/mesh-process.ts';

let home: MeshHome;
beforeEach(async () => {
  home = await meshHome();
});
afterEach(() => {
  home.remove();
});

const Findings = z.array(
  z.looseObject({ about: z.string(), verdict: z.string(), says: z.string() }),
);

async function doctor() {
  const { code, stdout, stderr } = await mesh({ home: home.dir }, 'doctor', '--json');
  const findings = Findings.parse(JSON.parse(stdout));
  return { code, stderr, of: (name: string) => findings.find(({ about }) => about === name) };
}

describe('the doctor', { timeout: 120_000 }, () => {
  it('looks at the gateway that the running mesh has, whatever its own shell names', async () => {
    const gateway = createServer((_request, response) => response.writeHead(401).end());
    await once(gateway.listen(0, '127.0.0.1'), 'listening');
    const url = `http://127.0.0.1:${(gateway.address() as AddressInfo).port}`;
    const env = { MESH_GATEWAY_URL: url, MESH_GATEWAY_KEY: 'sk-its-own' };
    const running = await startMesh({ home: home.dir, env });
    try {
      const found = (await doctor()).of('gateway');
      expect(found?.verdict).toBe('ok');
      expect(found?.says).toContain(url);
    } finally {
      await running.stop();
      gateway.close();
    }
    expect((await doctor()).of('gateway')).toMatchObject({ verdict: 'warn' });
  });

  it('tells what hinders a check and makes all the others', async () => {
    const state = join(home.dir, 'state');
    rmSync(state, { recursive: true });
    writeFileSync(state, 'no folder');
    const { code, stderr, of } = await doctor();
    expect([code, stderr]).toEqual([1, '']);
    for (const about of ['state', 'secret', 'lock'])
      expect(of(about), about).toMatchObject({ verdict: 'fail' });
    for (const about of ['node', 'git', 'disk', 'cards'])
      expect(of(about), about).toMatchObject({ verdict: 'ok' });
  });
});

import { mkdir, readFile, stat, symlink } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ownKanboard, type OwnKanboard } from '../../cli/own-kanboard.ts';
import { systemRandom } from '../../fabric/telemetry/system-random.ts';
import { recordingLog } from '../support/recording-log.ts';
import { freePort } from '../support/services/free-port.ts';
import { kanboardCalls } from '../support/services/kanboard-calls.ts';
import { describeWith } from '../support/services/service.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

interface Place {
  readonly folder: string;
  readonly port?: number;
  readonly signal?: AbortSignal;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

function open({ environment, ...place }: Place) {
  const log = recordingLog();
  const said: string[] = [];
  const opened = ownKanboard({
    ...place,
    ...{ environment, log, random: systemRandom },
    say: (text) => said.push(text),
  });
  return { opened, events: () => log.lines.map(({ event }) => event), said };
}

describeWith('kanboard', "The mesh's own Kanboard", ({ path }) => {
  const environment = { PATH: process.env['PATH'], HOME: '/nonexistent', KANBOARD_DEV_HOME: path };

  async function started(place: Omit<Place, 'environment'>) {
    const { opened, events, said } = open({ ...place, environment });
    const kanboard = await opened;
    onTestFinished(() => kanboard.stop());
    return { kanboard, events, said, call: kanboardCalls(kanboard.url, kanboard.token) };
  }

  it('starts with a token of its own that only its owner can read', async () => {
    const folder = join(await temporaryFolder(), 'state/kanboard');
    const { kanboard, events, said, call } = await started({ folder });
    expect(await call('getVersion')).toMatchObject({ status: 200 });
    expect(await readFile(join(folder, 'api.token'), 'utf8')).toBe(`${kanboard.token}\n`);
    for (const file of [join(folder, 'api.token'), kanboard.adminPasswordFile]) {
      expect((await stat(file)).mode & 0o077).toBe(0);
    }
    expect((await stat(join(folder, 'data'))).mode & 0o077).toBe(0);
    expect(events().at(-1)).toBe('kanboard.started');
    expect(said).toEqual([]);
  });

  it('takes over the one that a killed mesh has left, and ends it', async () => {
    const folder = await temporaryFolder();
    const first = await started({ folder });
    await first.call('createTag', { project_id: 1, tag: 'left', color_id: 'x' });
    const second = await started({ folder });
    expect(second.events()).toEqual(['kanboard.adopted']);
    expect(second.kanboard).toMatchObject({ url: first.kanboard.url, token: first.kanboard.token });
    await second.kanboard.stop();
    await expect(first.call('getVersion')).rejects.toThrow('fetch failed');
  });

  it('comes back on its port with its data', async () => {
    const folder = await temporaryFolder();
    const first = await started({ folder });
    await first.call('createTag', { project_id: 1, tag: 'kept', color_id: 'x' });
    await first.kanboard.stop();
    const second = await started({ folder });
    expect(second.kanboard).toMatchObject({ url: first.kanboard.url, token: first.kanboard.token });
    const { body } = await second.call('getTagsByProject', { project_id: 1 });
    expect(body).toMatchObject({ result: [{ name: 'kept' }] });
  });

  it('is there again after its server was killed', async () => {
    const { kanboard, call } = await started({ folder: await temporaryFolder() });
    await killServer(kanboard);
    await expect(call('getVersion')).rejects.toThrow('fetch failed');
    await kanboard.revive();
    expect(await call('getVersion')).toMatchObject({ status: 200 });
  });

  it('goes to the next port where one is taken, but not from a port that was named', async () => {
    const folder = await temporaryFolder();
    const port = await freePort();
    const { kanboard } = await started({ folder, port });
    await kanboard.stop();
    const squatter = createServer().listen(port, '127.0.0.1');
    await once(squatter, 'listening');
    onTestFinished(() => closed(squatter));
    await expect(open({ folder, port, environment }).opened).rejects.toMatchObject({
      code: 'FABRIC_DOWN',
      message: expect.stringContaining(`port ${port}`) as string,
    });
    const { kanboard: moved, events } = await started({ folder });
    expect(Number(new URL(moved.url).port)).toBeGreaterThan(port);
    expect(events().slice(0, 1)).toEqual(['kanboard.port-taken']);
  });

  it('sets where events go, and the secrets of its users', async () => {
    const { kanboard } = await started({ folder: await temporaryFolder() });
    await kanboard.setWebhook({ url: 'http://127.0.0.1:9/hook', token: 'hook-token' });
    await kanboard.setUser('admin', { password: 'a new one', token: 'personal' });
    const asAdmin = async (secret: string) => {
      const authorization = `Basic ${Buffer.from(`admin:${secret}`).toString('base64')}`;
      const body = '{"jsonrpc":"2.0","id":1,"method":"getMe"}';
      return (await fetch(kanboard.url, { method: 'POST', headers: { authorization }, body }))
        .status;
    };
    expect(await asAdmin('personal')).toBe(200);
    expect(await asAdmin('a new one')).toBe(200);
    expect(await asAdmin('another')).toBe(401);
    await expect(kanboard.setUser('nobody', { token: 'x' })).rejects.toThrow(
      'there is no user nobody',
    );
  });
});

describe('Where the machine can’t run a Kanboard', () => {
  it('says what to do instead', async () => {
    const folder = await temporaryFolder();
    const bin = join(folder, 'bin');
    await mkdir(bin);
    for (const tool of ['bash', 'mkdir', 'uname']) await symlink(`/bin/${tool}`, join(bin, tool));
    const environment = { PATH: bin, HOME: folder, KANBOARD_DEV_HOME: join(folder, 'nothing') };
    await expect(open({ folder, environment }).opened).rejects.toMatchObject({
      code: 'FABRIC_DOWN',
      message: expect.stringMatching(
        /needs apt-get, that is, a Debian system\. .*compose\.yaml.*--board kanboard:<url>/,
      ) as string,
    });
  });

  it('can be stopped before it is done', async () => {
    const folder = await temporaryFolder();
    const environment = { PATH: process.env['PATH'], HOME: folder };
    const { opened } = open({ folder, environment, signal: AbortSignal.abort() });
    await expect(opened).rejects.toThrow('was stopped before it was done');
  });

  it('says so where there is no shell', async () => {
    const folder = await temporaryFolder();
    const { opened } = open({ folder, environment: { PATH: '/nonexistent', HOME: folder } });
    await expect(opened).rejects.toMatchObject({
      code: 'FABRIC_DOWN',
      message: expect.stringContaining('it has no bash') as string,
    });
  });
});

async function killServer({ adminPasswordFile }: OwnKanboard): Promise<void> {
  const pidFile = join(adminPasswordFile, '../php.pid');
  process.kill(parseInt(await readFile(pidFile, 'utf8'), 10), 'SIGKILL');
}

const closed = (server: Server) =>
  new Promise<void>((resolve) => {
    server.close(() => {
      resolve();
    });
  });

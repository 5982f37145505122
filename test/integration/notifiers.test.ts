import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { subprocessRunner } from '../../agents/executors/subprocess.ts';
import { DecisionId, TaskId } from '../../fabric/domain/ids.ts';
import type { Notice } from '../../fabric/ports/notifier.ts';
import { systemClock } from '../../fabric/telemetry/system-clock.ts';
import { commandNotifier } from '../../keeper/notifiers/command-notifier.ts';
import { mailNotifier, type MailServer } from '../../keeper/notifiers/mail-notifier.ts';
import { webhookNotifier } from '../../keeper/notifiers/webhook-notifier.ts';
import { littleSmtp, type SmtpManner } from '../support/little-smtp.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** A port that nobody listens on any more. */
async function closedPort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** For what never answers; whoever does has all the time that a busy machine takes. */
const shortMs = 400;

const notice: Notice = {
  noticeId: 'notice:d-0123456789abcdef:maria:1',
  kind: 'urgent',
  person: 'maria',
  subject: 'claude-coder asks: Deploy tonight? – Größe',
  text: 'May this be deployed tonight?\n\n.\nmesh answer 1a2b3c4d approve|reject\n',
  decisionId: DecisionId.parse('d-0123456789abcdef'),
  taskId: TaskId.parse('1a2b3c4d'.repeat(4)),
};

describe('a command', () => {
  const program = join(import.meta.dirname, '../fixtures/notify/notify.mjs');
  const send = (behaviour: string, file: readonly string[] = [], started = process.execPath) =>
    commandNotifier({
      command: [started, program, behaviour, ...file],
      address: '@maria',
      env: { MESH_CHAT_TOKEN: 'secret' },
      cwd: import.meta.dirname,
      run: subprocessRunner({ clock: systemClock }),
      timeoutMs: behaviour === 'hang' ? 2_000 : 10_000,
    }).send(notice);

  it('reads the notice with its exact question, and nothing of the environment that is not its', async () => {
    const file = join(await temporaryFolder(), 'seen');
    expect(await send('delivered', [file])).toEqual({
      outcome: 'delivered',
      receiptId: 'chat-77',
    });
    const { packet, environment } = JSON.parse(readFileSync(file, 'utf8')) as {
      packet: object;
      environment: object;
    };
    expect(packet).toEqual({
      ...{ version: 1, notice_id: notice.noticeId, kind: 'urgent', person: 'maria' },
      ...{ address: '@maria', subject: notice.subject, text: notice.text },
      ...{ decision_id: notice.decisionId, task_id: notice.taskId },
    });
    expect(environment).toEqual({ MESH_CHAT_TOKEN: 'secret', MESH_RUN_MARK: notice.noticeId });
  });

  it('says that it queued it', async () => {
    expect(await send('queued')).toEqual({ outcome: 'queued', receiptId: 'queue-5' });
  });

  it.each(['another', 'blank', 'long', 'state', 'nothing', 'flood', '3', 'hang'])(
    'proves nothing by %s',
    async (behaviour) => {
      expect(await send(behaviour)).toMatchObject({ outcome: 'unknown' });
    },
  );

  it('surely sent nothing when it says so by its exit code, or never ran', async () => {
    expect(await send('75')).toMatchObject({ outcome: 'failed' });
    expect(await send('delivered', [], '/no/such/program')).toMatchObject({ outcome: 'failed' });
  });
});

describe('a webhook', () => {
  const receiver = async (listener: RequestListener) => {
    const server = createServer(listener);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    });
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mesh`;
  };
  const send = (url: string, timeoutMs = 10_000) =>
    webhookNotifier({
      ...{ url, address: undefined, fetch, timeoutMs },
      headers: { authorization: 'Bearer secret' },
    }).send(notice);
  const receipt = JSON.stringify({ notice_id: notice.noticeId, receipt_id: 'post-9' });

  it('posts the notice with the secret, and takes the receipt of its answer', async () => {
    const seen: object[] = [];
    const url = await receiver((request, response) => {
      const pieces: Buffer[] = [];
      request.on('data', (piece: Buffer) => pieces.push(piece));
      request.on('end', () => {
        const packet = JSON.parse(Buffer.concat(pieces).toString('utf8')) as object;
        seen.push({ method: request.method, secret: request.headers.authorization, packet });
        response.end(receipt);
      });
    });
    expect(await send(url)).toEqual({ outcome: 'delivered', receiptId: 'post-9' });
    expect(seen).toMatchObject([
      { method: 'POST', secret: 'Bearer secret', packet: { decision_id: notice.decisionId } },
    ]);
  });

  it('does not know what a receiver did that broke, hung or rambled', async () => {
    const broken = await receiver((_request, response) => response.writeHead(500).end());
    expect(await send(broken)).toMatchObject({ outcome: 'unknown' });
    const silent = await receiver(() => undefined);
    expect(await send(silent, shortMs)).toMatchObject({ outcome: 'unknown' });
    const stuck = await receiver((_request, response) => response.write(receipt.slice(0, 9)));
    expect(await send(stuck, shortMs)).toMatchObject({ outcome: 'unknown' });
    const endless = await receiver((_request, response) => {
      response.end(`${' '.repeat(100_000)}${receipt}`);
    });
    expect(await send(endless)).toMatchObject({ outcome: 'unknown' });
    const dead = await receiver((request) => request.socket.destroy());
    expect(await send(dead)).toMatchObject({ outcome: 'unknown' });
  });

  it('surely reached nobody where it is refused, or where nobody listens', async () => {
    const closed = await receiver((_request, response) => response.writeHead(403).end());
    expect(await send(closed)).toMatchObject({ outcome: 'failed' });
    const free = `http://127.0.0.1:${await closedPort()}/`;
    expect(await send(free)).toMatchObject({ outcome: 'failed' });
  });

  it('follows no redirect with its secret', async () => {
    let followed = 0;
    const elsewhere = await receiver((_request, response) => {
      followed += 1;
      response.end(receipt);
    });
    const url = await receiver((_request, response) =>
      response.writeHead(307, { location: elsewhere }).end(),
    );
    expect(await send(url)).toMatchObject({ outcome: 'failed' });
    expect(followed).toBe(0);
  });
});

describe('e-mail', () => {
  const serverAt = (port: number, tls: MailServer['tls']): MailServer => ({
    ...{ host: '127.0.0.1', port, tls, from: 'mesh@example.org' },
    login: { user: 'mesh', password: 'hush' },
  });
  const send = async (manner: SmtpManner, port?: number) => {
    const smtp = await littleSmtp(manner);
    const server = serverAt(port ?? smtp.port, 'none');
    const timeoutMs = manner.kind === 'hangs-after-data' ? shortMs * 5 : 10_000;
    const notifier = mailNotifier({ server, to: 'maria@example.org', timeoutMs });
    return { delivery: await notifier.send(notice), ...smtp };
  };

  it('is queued by the server, whose words are the receipt', async () => {
    const { delivery, messages, commands } = await send({ kind: 'takes' });
    expect(delivery).toEqual({
      outcome: 'queued',
      receiptId: '250 2.0.0 Ok: queued as A1B2C3',
    });
    expect(messages).toHaveLength(1);
    expect(messages[0]).toContain('To: maria@example.org');
    expect(messages[0]).toContain('Message-ID: <notice.d-0123456789abcdef.maria.1@example.org>');
    expect(messages[0]).toContain('mesh answer 1a2b3c4d approve|reject');
    const login = Buffer.from('\0mesh\0hush').toString('base64');
    expect(commands).toContain(`AUTH PLAIN ${login}`);
  });

  it('is not sent by a server that wants no such login, recipient or message', async () => {
    for (const kind of ['refuses-login', 'refuses-recipient', 'refuses-message'] as const) {
      expect((await send({ kind })).delivery).toMatchObject({ outcome: 'failed' });
    }
    expect((await send({ kind: 'takes' }, await closedPort())).delivery).toMatchObject({
      outcome: 'failed',
    });
  });

  it('may have gone out where the server fell silent after it had the message', async () => {
    for (const kind of ['hangs-after-data', 'hangs-up-after-data'] as const) {
      const { delivery, messages } = await send({ kind });
      expect(delivery).toMatchObject({ outcome: 'unknown' });
      expect(messages).toHaveLength(1);
    }
  });

  it('never goes to a server that offers no encryption, where it is wanted', async () => {
    const smtp = await littleSmtp({ kind: 'takes' });
    const server = serverAt(smtp.port, 'starttls');
    const notifier = mailNotifier({ server, to: 'maria@example.org' });
    expect(await notifier.send(notice)).toMatchObject({ outcome: 'failed' });
    expect(smtp.commands.join()).not.toContain('AUTH');
  });
});

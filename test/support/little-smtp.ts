import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** How the server ends a message, or what it does instead. */
export type SmtpManner =
  | { readonly kind: 'takes'; readonly reply?: string }
  | { readonly kind: 'refuses-recipient' | 'refuses-message' | 'refuses-login' }
  | { readonly kind: 'hangs-after-data' | 'hangs-up-after-data' };

export interface LittleSmtp {
  readonly port: number;
  /** Whole messages as they came, headers and text. */
  readonly messages: string[];
  /** Every line of every session but those of messages. */
  readonly commands: string[];
}

/** A real mail server of the loopback, without encryption, for one test. */
export async function littleSmtp(manner: SmtpManner): Promise<LittleSmtp> {
  const messages: string[] = [];
  const commands: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.write('220 little.test ESMTP\r\n');
    session(socket, manner, messages, commands);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, 'close');
  });
  return { port: (server.address() as AddressInfo).port, messages, commands };
}

function session(socket: Socket, manner: SmtpManner, messages: string[], commands: string[]): void {
  let heard = '';
  let message: string[] | undefined;
  const say = (line: string) => socket.write(`${line}\r\n`);
  const answer = (command: string) => {
    commands.push(command);
    const verb = command.slice(0, 4).toUpperCase();
    if (verb === 'EHLO') say('250-little.test\r\n250 AUTH PLAIN');
    else if (verb === 'AUTH') say(manner.kind === 'refuses-login' ? '535 no' : '235 welcome');
    else if (verb === 'RCPT') say(manner.kind === 'refuses-recipient' ? '550 nobody' : '250 ok');
    else if (verb === 'DATA') {
      message = [];
      say('354 go on');
    } else if (verb === 'STAR') say('502 not here');
    else if (verb === 'QUIT') socket.end('221 bye\r\n');
    else say('250 ok');
  };
  const endMessage = (lines: readonly string[]) => {
    messages.push(lines.join('\n'));
    if (manner.kind === 'hangs-up-after-data') socket.destroy();
    else if (manner.kind === 'refuses-message') say('554 spam');
    else if (manner.kind === 'takes') say(manner.reply ?? '250 2.0.0 Ok: queued as A1B2C3');
  };
  socket.on('data', (bytes: Buffer) => {
    heard += bytes.toString('utf8');
    for (let end = heard.indexOf('\r\n'); end >= 0; end = heard.indexOf('\r\n')) {
      const line = heard.slice(0, end);
      heard = heard.slice(end + 2);
      if (message === undefined) answer(line);
      else if (line === '.') {
        endMessage(message);
        message = undefined;
      } else message.push(line);
    }
  });
}

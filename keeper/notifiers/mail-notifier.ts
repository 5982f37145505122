import { limits } from '../../fabric/domain/limits.ts';
import type { Delivery, Notice, Notifier } from '../../fabric/ports/notifier.ts';

/** The operator's mail server. */
export interface MailServer {
  readonly host: string;
  readonly port: number;
  /** From the first byte, by STARTTLS or not at all. */
  readonly tls: 'implicit' | 'starttls' | 'none';
  readonly from: string;
  readonly login?: { readonly user: string; readonly password: string };
}

export interface MailNotifierOptions {
  readonly server: MailServer;
  readonly to: string;
  readonly timeoutMs?: number;
}

/** E-mail: a server that took it has it in its queue; nobody learns when it is read. */
export function mailNotifier(options: MailNotifierOptions): Notifier {
  return {
    transport: 'mail',
    send: (notice) => mail(notice, options),
  };
}

/** Whether the server can be reached and takes the login. Rejects with the reason where not. */
export async function checkMailServer(server: MailServer, timeoutMs: number): Promise<void> {
  const transport = await transportTo(server, timeoutMs);
  await transport.verify();
}

/** Read when the first mail goes out: most homes send none. */
async function transportTo({ host, port, tls, login }: MailServer, timeoutMs: number) {
  const { createTransport } = await import('nodemailer');
  return createTransport({
    ...{ host, port, secure: tls === 'implicit' },
    // A server that offers no encryption, or no login, is not ours: nothing is sent in the clear.
    ...{ requireTLS: tls === 'starttls', ignoreTLS: tls === 'none' },
    ...(login && { auth: { user: login.user, pass: login.password }, forceAuth: true }),
    ...{ connectionTimeout: timeoutMs, greetingTimeout: timeoutMs, socketTimeout: timeoutMs },
    ...{ disableFileAccess: true, disableUrlAccess: true },
  });
}

async function mail(
  notice: Notice,
  { server, to, timeoutMs = limits.noticeMs }: MailNotifierOptions,
): Promise<Delivery> {
  try {
    const transport = await transportTo(server, timeoutMs);
    const { response } = await transport.sendMail({
      ...{ from: server.from, to, subject: notice.subject, text: notice.text },
      messageId: `<${notice.noticeId.replaceAll(':', '.')}@${domainOf(server.from)}>`,
      headers: { 'Auto-Submitted': 'auto-generated' },
      signal: AbortSignal.timeout(timeoutMs),
    });
    return takenBy(response);
  } catch (error) {
    const outcome = surelyNotSent(error) ? 'failed' : 'unknown';
    return { outcome, reason: `${server.host} did not take it (${codesOf(error).join(' ')})` };
  }
}

/** The server's own words, which name its queue's id, are the receipt. */
function takenBy(response: string): Delivery {
  const receiptId = response
    .replace(/[^\x20-\x7e]+/gu, ' ')
    .trim()
    .slice(0, 128);
  return receiptId === ''
    ? { outcome: 'unknown', reason: 'the mail server gave no receipt' }
    : { outcome: 'queued', receiptId };
}

const domainOf = (from: string): string => /@([^\s>]+)/u.exec(from)?.[1] ?? 'mesh';

/** What ends before the message is handed over, or in the server's clear no to it. */
const beforeMessage: ReadonlySet<string> = new Set([
  ...['EAUTH', 'ENOAUTH', 'EDNS', 'EENVELOPE', 'EMESSAGE', 'ETLS', 'ECONFIG', 'EREQUIRETLS'],
  ...['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH'],
]);

const surelyNotSent = (error: unknown): boolean =>
  codesOf(error).some((code) => beforeMessage.has(code));

/** nodemailer's own code, and the system's beneath it; never a server's words. */
function codesOf(error: unknown): string[] {
  if (!(error instanceof Error)) return ['no reason'];
  const { code, originalCode } = error as { code?: unknown; originalCode?: unknown };
  const codes = [code, originalCode].filter((one) => typeof one === 'string');
  return codes.length === 0 ? [error.name] : codes;
}

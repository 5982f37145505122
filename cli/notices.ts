import { subprocessRunner } from '../agents/executors/subprocess.ts';
import type { CardRegistry } from '../cards/registry/card-registry.ts';
import type { AvailabilityProbe } from '../fabric/ports/availability.ts';
import type { Clock } from '../fabric/ports/clock.ts';
import type { Log } from '../fabric/ports/log.ts';
import type { Notifier } from '../fabric/ports/notifier.ts';
import { commandNotifier } from '../keeper/notifiers/command-notifier.ts';
import { mailNotifier, type MailServer } from '../keeper/notifiers/mail-notifier.ts';
import { webhookNotifier } from '../keeper/notifiers/webhook-notifier.ts';
import { fileDigestMarks } from '../keeper/notices/digest-marks.ts';
import type { NoticeOptions, Recipient } from '../keeper/notices/sweep.ts';
import { dayStruckAt } from '../router/availability/daily-time.ts';
import type { Environment, MeshConfig } from './config.ts';
import type { HomePaths } from './home.ts';
import type { MailSettings, PersonSettings } from './people-settings.ts';
import { basicEnvironment } from './persona-runs.ts';
import { namedSecret } from './secrets.ts';
import { oneLine, printable } from './text/printable.ts';

export interface NoticesOptions {
  readonly paths: HomePaths;
  readonly config: MeshConfig;
  readonly environment: Environment;
  readonly clock: Clock;
  readonly log: Log;
  readonly registry: CardRegistry;
  readonly availability: AvailabilityProbe;
  readonly publicUrl: () => string | undefined;
  readonly onNotice: NoticeOptions['onNotice'];
}

/** Whom this process tells of what waits for them; undefined where it is told not to, or of nobody. */
export function openNotices(options: NoticesOptions): NoticeOptions | undefined {
  const { paths, config, environment, log, registry, availability, publicUrl, onNotice } = options;
  if (environment.all['MESH_NOTICES'] === 'off') return undefined;
  const recipients = Object.entries(config.people).flatMap(([person, settings]): Recipient[] => {
    const notifier = notifierOf(settings, options);
    if ('missing' in notifier) {
      log.error('notices.no-secret', { agent: person, missing: notifier.missing });
      return [];
    }
    const { digest: minute } = settings;
    const zone = () => settings.zone ?? zoneOfCard(registry, person);
    const digestDayAt = (nowMs: number) =>
      minute === null ? undefined : dayStruckAt({ minute, zone: zone() }, nowMs);
    return [{ person, notifier: printing(notifier), digestDayAt }];
  });
  if (recipients.length === 0) return undefined;
  const inboxUrl = () => {
    const front = publicUrl();
    return front === undefined ? undefined : `${front}/inbox`;
  };
  return { recipients, availability, marks: fileDigestMarks(paths.digests), inboxUrl, onNotice };
}

/** The zone of their waking hours, as everything else about them has it. */
const zoneOfCard = (registry: CardRegistry, person: string): string =>
  registry.card(person)?.availability.windows[0]?.zone ?? 'UTC';

/** Words of others leave here, as everywhere, without what moves a cursor or hides what follows. */
const printing = (inner: Notifier): Notifier => ({
  ...inner,
  send: (notice) =>
    inner.send({
      ...notice,
      subject: oneLine(notice.subject, 200),
      text: printable(notice.text),
    }),
});

interface MissingSecret {
  readonly missing: string;
}

/** The way to one person, or the secret that is not there for it. */
function notifierOf(
  settings: PersonSettings,
  { paths, config, environment, clock }: NoticesOptions,
): Notifier | MissingSecret {
  const { mail: to, webhook, command, address } = settings;
  if (to !== undefined && config.mail !== undefined) {
    const server = mailServerOf(config.mail, environment);
    return 'missing' in server ? server : mailNotifier({ server, to });
  }
  const names = command?.secrets ?? (webhook?.secret === undefined ? [] : [webhook.secret]);
  const secrets = new Map(names.map((name) => [name, namedSecret(environment, name)]));
  const missing = names.find((name) => secrets.get(name) === undefined);
  if (missing !== undefined) return { missing };
  if (webhook !== undefined) {
    const { url, secret = '', header } = webhook;
    const value = secrets.get(secret);
    const headers = value === undefined ? {} : headerOf(value, header);
    return webhookNotifier({ url, address, headers, fetch });
  }
  const [file = '', ...args] = (command?.run ?? []).map((word) =>
    word.replaceAll('{home}', paths.home),
  );
  return commandNotifier({
    ...{ command: [file, ...args], address, cwd: paths.home },
    env: {
      ...basicEnvironment(environment),
      ...(Object.fromEntries(secrets) as Record<string, string>),
    },
    run: subprocessRunner({ clock }),
  });
}

const headerOf = (secret: string, header: string | undefined): Record<string, string> =>
  header === undefined ? { authorization: `Bearer ${secret}` } : { [header]: secret };

/** The mail server with its password, or the variable that should have held it. */
export function mailServerOf(
  { user, password: name, ...mail }: MailSettings,
  environment: Environment,
): MailServer | MissingSecret {
  if (user === undefined || name === undefined) return mail;
  const password = namedSecret(environment, name);
  return password === undefined ? { missing: name } : { ...mail, login: { user, password } };
}

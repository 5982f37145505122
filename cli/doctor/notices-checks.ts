import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { listCards, type HomeView } from '../../cards/registry/card-operations.ts';
import { reasonOf } from '../../fabric/domain/errors.ts';
import { checkMailServer } from '../../keeper/notifiers/mail-notifier.ts';
import type { Environment, MeshConfig } from '../config.ts';
import { mailServerOf } from '../notices.ts';
import type { PersonSettings } from '../people-settings.ts';
import { namedSecret } from '../secrets.ts';
import { fail, ok, warn, type Finding } from './finding.ts';

const answerWithinMs = 5_000;

/** Whether each person of the settings can be told of what waits for them; nothing is sent. */
export async function noticesFindings(
  { people, mail }: Pick<MeshConfig, 'people' | 'mail'>,
  environment: Environment,
  view: HomeView,
): Promise<Finding[]> {
  const names = Object.keys(people);
  if (names.length === 0) {
    const says = 'none are sent: people look into their inbox by themselves';
    return [ok('notices', says)];
  }
  const humans = await humansOf(view);
  const strangers = names.filter((name) => humans !== undefined && !humans.has(name));
  const all = [
    ...strangers.map((name) =>
      fail(
        'notices',
        `${name} is no person of this home`,
        'Correct the id in people of mesh.yaml.',
      ),
    ),
    ...(mail === undefined ? [] : [await mailFinding(mail, environment)]),
    ...(await Promise.all(
      Object.entries(people).flatMap(([person, settings]) =>
        settings.mail === undefined ? [wayFinding(person, settings, environment, view.home)] : [],
      ),
    )),
  ];
  return all.length > 0 ? all : [ok('notices', `go to ${names.join(', ')}`)];
}

/** Undefined where the Cards can't be read: that is told beside it. */
async function humansOf(view: HomeView): Promise<ReadonlySet<string> | undefined> {
  const listed = await listCards(view).catch(() => undefined);
  return listed && new Set(listed.rows.flatMap(({ id, trust }) => (trust === 'human' ? [id] : [])));
}

async function mailFinding(
  settings: NonNullable<MeshConfig['mail']>,
  environment: Environment,
): Promise<Finding> {
  const server = mailServerOf(settings, environment);
  if ('missing' in server) return noSecret('mail', server.missing);
  const where = `${server.host}:${server.port}`;
  try {
    await checkMailServer(server, answerWithinMs);
    return ok('mail', `${where} takes the login`);
  } catch (error) {
    const fix = 'Correct mail in mesh.yaml, or see that the server can be reached from here.';
    return fail('mail', `${where}: ${reasonOf(error)}`, fix);
  }
}

const noSecret = (about: string, name: string): Finding =>
  fail(about, `${name} is not set`, `Set ${name}, or ${name}_FILE to a file that holds it.`);

async function wayFinding(
  person: string,
  { webhook, command }: PersonSettings,
  environment: Environment,
  home: string,
): Promise<Finding> {
  const about = `notices to ${person}`;
  const names = command?.secrets ?? (webhook?.secret === undefined ? [] : [webhook.secret]);
  const missing = names.find((name) => namedSecret(environment, name) === undefined);
  if (missing !== undefined) return noSecret(about, missing);
  if (webhook !== undefined) return webhookFinding(about, webhook.url);
  const file = (command?.run[0] ?? '').replaceAll('{home}', home);
  return isProgram(file, environment)
    ? ok(about, `${file} is there`)
    : fail(about, `${file} is no program that can be run`, 'Correct command.run in mesh.yaml.');
}

/** Any answer says that the receiver is there; the secret is not shown to it for that. */
async function webhookFinding(about: string, url: string): Promise<Finding> {
  const { host } = new URL(url);
  try {
    const signal = AbortSignal.timeout(answerWithinMs);
    const response = await fetch(url, { method: 'HEAD', redirect: 'manual', signal });
    await response.body?.cancel();
    if (response.status >= 300 && response.status < 400) {
      return warn(about, `${host} redirects, which no notice follows`, 'Write its final address.');
    }
    return ok(about, `${host} answers`);
  } catch (error) {
    return fail(about, `nothing answers at ${host}: ${reasonOf(error)}`, 'Correct webhook.url.');
  }
}

function isProgram(file: string, { all }: Environment): boolean {
  const folders = file.includes('/') ? [''] : (all['PATH'] ?? '').split(delimiter);
  return folders.some((folder) => {
    try {
      accessSync(join(folder, file), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

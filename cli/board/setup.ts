import { listPolicies } from '../../cards/registry/card-operations.ts';
import type { QueueId } from '../../fabric/domain/ids.ts';
import { BoardMembers } from '../../fabric/kanboard/board-members.ts';
import { boardProbes } from '../../fabric/kanboard/board-probes.ts';
import { BoardProjects } from '../../fabric/kanboard/board-projects.ts';
import type { Closers } from '../closers.ts';
import { rpcOf, webhookUrl } from '../kanboard-home.ts';
import type { Session } from '../session.ts';
import { boardGround, type BoardGround } from './board-ground.ts';
import { isOldVersion, testedVersion } from './kanboard-version.ts';
import { isHuman } from './queues-of.ts';
import type { SetupContext } from './setup-context.ts';
import { setUpPeople } from './setup-people.ts';
import { setUpProjects } from './setup-projects.ts';
import { right, wrong, type Step } from './step.ts';
import { hearsChanges } from './webhook-probe.ts';

export interface SetupOptions {
  readonly board?: string;
  readonly dryRun?: true;
}

export interface SetupReport {
  readonly board: string;
  readonly version: string;
  readonly changed: number;
  readonly steps: readonly Step[];
}

/** Makes a Kanboard ready for the Cards of the home; a second time it finds nothing to do. */
export async function setUpBoard(
  session: Session,
  options: SetupOptions,
  closers: Closers,
): Promise<SetupReport> {
  session.progress('connecting to the board');
  const ground = await boardGround(session, options.board, closers);
  const context = await contextOf(session, ground, options.dryRun === true, closers);
  const version = await context.probes.version();
  const { access } = ground;
  const steps: Step[] = [right('board', `Kanboard ${version} answers at ${access.url}`)];
  if (isOldVersion(version)) steps.push(oldVersion(version));
  steps.push(await zoneStep(context));
  session.progress('projects');
  const { steps: projectSteps, ids } = await setUpProjects(context);
  session.progress('people');
  steps.push(...projectSteps, ...(await setUpPeople(context, ids)));
  session.progress('trying out what the mesh relies on');
  if (!context.isDry) steps.push(...(await relianceSteps(context, ids)));
  steps.push(await webhookStep(context, ground, ids));
  const changed = steps.filter(({ verdict }) => verdict === 'changed').length;
  return { board: access.url, version, changed, steps };
}

/** What the Cards need of a board, and no trial of it: for the mesh's own, each time that it comes up. */
export async function setUpForCards(
  on: Pick<Session, 'clock' | 'random'>,
  ground: SetupGround,
  closers: Closers,
): Promise<readonly Step[]> {
  const context = await contextOf(on, ground, false, closers);
  const { steps, ids } = await setUpProjects(context);
  return [...steps, ...(await setUpPeople(context, ids))];
}

type SetupGround = Pick<BoardGround, 'access' | 'paths' | 'config' | 'environment'>;

async function contextOf(
  { clock, random }: Pick<Session, 'clock' | 'random'>,
  { access, paths, config, environment }: SetupGround,
  isDry: boolean,
  closers: Closers,
): Promise<SetupContext> {
  const { home } = paths;
  const { defaultHuman } = config;
  const nowMs = clock.nowMs();
  const policies = await listPolicies({ home, defaultHuman, nowMs, environment: environment.all });
  const rpc = rpcOf(access, clock);
  closers.add(() => {
    rpc.close();
  });
  const { boardId } = access;
  const inboxes = new Set<string>(policies.filter(isHuman).map(({ queue }) => queue));
  const layoutOf = (queue: QueueId) => (inboxes.has(queue) ? 'inbox' : 'queue');
  return {
    ...{ paths, access, policies, clock, random, isDry },
    projects: new BoardProjects({ rpc, clock, random, boardId, layoutOf }),
    members: new BoardMembers(rpc),
    probes: boardProbes(rpc, boardId),
  };
}

const oldVersion = (version: string): Step =>
  wrong('warn', 'version', `${version} is older than ${testedVersion}`, 'Update the Kanboard.');

async function zoneStep({ probes }: SetupContext): Promise<Step> {
  const zone = await probes.timezone();
  return zone === 'UTC'
    ? right('time zone', 'UTC')
    : wrong(
        'you',
        'time zone',
        `it is ${zone}: the mesh and the board read dates differently`,
        zoneFix,
      );
}

export const zoneFix = 'Set it to UTC: Settings → Application settings → Timezone.';

async function relianceSteps(
  { probes }: SetupContext,
  ids: ReadonlyMap<string, number>,
): Promise<readonly Step[]> {
  const problems = await probes.slots();
  const steps = [
    problems.length === 0
      ? right('slots', 'a name is given to one alone, and stays')
      : wrong(
          'fail',
          'slots',
          problems.join('; '),
          'Work on this Kanboard is not safe: use another.',
        ),
  ];
  const [projectId] = ids.values();
  if (projectId === undefined) return steps;
  if (!(await probes.keepsMetadata(projectId))) {
    const fix = 'Look into the log of Kanboard.';
    steps.push(wrong('fail', 'metadata', 'a value of 255 characters does not come back', fix));
  } else steps.push(right('metadata', 'kept whole'));
  const locked = await probes.lockedWrites(projectId, 8);
  steps.push(locked === 0 ? right('writers', 'none was locked out') : lockedStep(locked, 8));
  return steps;
}

const lockedStep = (locked: number, of: number): Step =>
  wrong(
    'warn',
    'writers',
    `${locked} of ${of} writes at once found the database locked`,
    lockedFix,
  );

export const lockedFix =
  'SQLite has several PHP workers: give it one (PHP_CLI_SERVER_WORKERS, pm.max_children), or take PostgreSQL.';

/** The settings of a webhook can't be read: it is tried out, where somebody is there to hear it. */
async function webhookStep(
  { probes, paths, clock, isDry, access }: SetupContext,
  { frontUrl, config }: BoardGround,
  ids: ReadonlyMap<string, number>,
): Promise<Step> {
  const [projectId] = ids.values();
  const front =
    frontUrl ?? config.front.publicUrl ?? `http://${config.front.host}:${config.front.port}`;
  const how =
    `Settings → Webhooks: URL ${webhookUrl(access, front)}, token as in ${paths.kanboardWebhookToken}. ` +
    'To a private address Kanboard sends only with WEBHOOK_ALLOW_PRIVATE_NETWORKS=true. Without it the mesh looks ' +
    `every ${access.pollMs / 1_000} s.`;
  if (frontUrl === undefined || projectId === undefined || isDry) {
    return wrong('you', 'webhook', 'not tried out: it needs a running `mesh up`', how);
  }
  const heard = await hearsChanges(frontUrl, paths, probes, projectId, clock);
  if (heard === 'heard') return right('webhook', 'a change on the board is heard at once');
  return wrong('you', 'webhook', 'the front heard nothing of a change on the board', how);
}

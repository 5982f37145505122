import { listPolicies } from '../../cards/registry/card-operations.ts';
import { reasonOf } from '../../fabric/domain/errors.ts';
import { boardProbes, type BoardProbes } from '../../fabric/kanboard/board-probes.ts';
import { BoardProjects } from '../../fabric/kanboard/board-projects.ts';
import type { KanboardRpc } from '../../fabric/kanboard/kanboard-rpc.ts';
import { NoAnswerError } from '../../fabric/kanboard/no-answer.ts';
import { runningOwn } from '../board/board-ground.ts';
import { loadStamp, stampFile } from '../board/guarded-board.ts';
import { isOldVersion, testedVersion } from '../board/kanboard-version.ts';
import { isHuman } from '../board/queues-of.ts';
import { lockedFix, zoneFix } from '../board/setup.ts';
import { hearsChanges } from '../board/webhook-probe.ts';
import type { KanboardSettings } from '../board-settings.ts';
import type { Environment, MeshConfig } from '../config.ts';
import type { HomePaths } from '../home.ts';
import { kanboardAccess, type KanboardAccess } from '../kanboard-access.ts';
import { rpcOf, webhookUrl } from '../kanboard-home.ts';
import type { Session } from '../session.ts';
import { fail, ok, warn, type Finding } from './finding.ts';

export interface BoardCheck {
  readonly session: Session;
  readonly paths: HomePaths;
  readonly config: MeshConfig;
  readonly environment: Environment;
  /** The `mesh up` that runs on the home. */
  readonly frontUrl: string | undefined;
}

/** The Kanboard of mesh.yaml, as far as it can be looked at; nothing for a home with a board of its own. */
export async function boardFindings(check: BoardCheck): Promise<readonly Finding[]> {
  const settings = check.config.board?.kanboard;
  if (settings === undefined) return [];
  try {
    const access = await accessOf(settings, check);
    if (access === undefined) {
      const own = ok('board', 'the mesh’s own Kanboard; it runs as long as `mesh up`');
      return [own, ...(await restoredFinding({ folder: `own-${settings.boardId}` }, check))];
    }
    const rpc = rpcOf(access, check.session.clock);
    try {
      return await examine(access, rpc, check);
    } finally {
      rpc.close();
    }
  } catch (error) {
    return [unusable(error)];
  }
}

function unusable(error: unknown): Finding {
  const fix =
    error instanceof NoAnswerError && !error.isRefused
      ? 'Start it, or correct board.kanboard.url. Until then async work waits; who waits on a line is served.'
      : 'See docs/operations.md, “Kanboard”.';
  return fail('board', reasonOf(error), fix);
}

async function accessOf(
  settings: KanboardSettings,
  { paths, environment, session, frontUrl }: BoardCheck,
): Promise<KanboardAccess | undefined> {
  const { random, signal } = session;
  const { log, say } = quiet;
  const deps = { paths, environment, random, log, say, signal };
  if (settings.url !== undefined) return kanboardAccess(settings, deps);
  return frontUrl === undefined ? undefined : runningOwn(settings, deps);
}

const silent = () => undefined;
const quiet = { say: silent, log: { debug: silent, info: silent, warn: silent, error: silent } };

async function examine(
  access: KanboardAccess,
  rpc: KanboardRpc,
  check: BoardCheck,
): Promise<readonly Finding[]> {
  const probes = boardProbes(rpc, access.boardId);
  const version = await probes.version();
  return [
    ok('board', `Kanboard answers at ${access.url}`),
    ...(await restoredFinding(access, check)),
    versionFinding(version),
    zoneFinding(await probes.timezone()),
    await skewFinding(access.url, check.session),
    ...(await projectFindings(access, rpc, probes, check)),
  ];
}

/** As the last mesh of this home found it. */
async function restoredFinding(
  access: Pick<KanboardAccess, 'folder'>,
  { paths, session }: BoardCheck,
): Promise<readonly Finding[]> {
  const { restored } = await loadStamp(stampFile(paths, access), session.random);
  if (restored === undefined) return [];
  const says =
    'it was restored from a backup and knows less than this mesh has done: nothing is taken from it';
  const fix =
    'Stop `mesh up`, run `mesh board restore --accept`, look at what it names, start it again.';
  return [fail('board restored', says, fix)];
}

const versionFinding = (version: string): Finding =>
  isOldVersion(version)
    ? warn('board version', `${version} is older than ${testedVersion}`, 'Update the Kanboard.')
    : ok('board version', version);

const zoneFinding = (zone: string): Finding =>
  zone === 'UTC'
    ? ok('board zone', 'UTC')
    : fail(
        'board zone',
        `its dates are those of ${zone}: deadlines and changes are misread`,
        zoneFix,
      );

/** Deadlines and leases compare instants of both clocks; a second is the header's own grain. */
const mostSkewMs = 30_000;

async function skewFinding(url: string, { clock }: Session): Promise<Finding> {
  const signal = AbortSignal.timeout(5_000);
  const sentAtMs = clock.nowMs();
  const answer = await fetch(`${url}/`, { method: 'HEAD', redirect: 'manual', signal });
  await answer.body?.cancel();
  const theirsMs = Date.parse(answer.headers.get('date') ?? '');
  if (Number.isNaN(theirsMs)) return ok('board clock', 'it does not say');
  const skewMs = Math.max(sentAtMs - 1_000 - theirsMs, theirsMs - clock.nowMs(), 0);
  if (skewMs <= mostSkewMs) return ok('board clock', 'agrees with this machine');
  const says = `it differs from this machine’s by ${Math.round(skewMs / 1_000)} s`;
  return fail('board clock', says, 'Set both clocks by a time service (NTP).');
}

async function projectFindings(
  { boardId, ...access }: KanboardAccess,
  rpc: KanboardRpc,
  probes: BoardProbes,
  { session, paths, config, environment, frontUrl }: BoardCheck,
): Promise<readonly Finding[]> {
  const { clock, random } = session;
  const { home } = paths;
  const { defaultHuman } = config;
  const view = { home, defaultHuman, nowMs: clock.nowMs(), environment: environment.all };
  const policies = await listPolicies(view);
  const inboxes = new Set<string>(policies.filter(isHuman).map(({ queue }) => queue));
  const projects = new BoardProjects({
    ...{ rpc, clock, random, boardId },
    layoutOf: (queue) => (inboxes.has(queue) ? 'inbox' : 'queue'),
  });
  const there = await projects.registered();
  const lacking: string[] = [];
  for (const [queue, projectId] of there) {
    const titles = await projects.lacking(queue, projectId);
    if (titles.length > 0) lacking.push(`${queue} lacks ${titles.join(', ')}`);
  }
  const missing = new Set(policies.map(({ queue }) => queue).filter((queue) => !there.has(queue)));
  const [projectId] = there.values();
  return [
    columnFinding(lacking, there.size, missing.size),
    ...(projectId === undefined
      ? []
      : [
          await writersFinding(probes, projectId),
          ...(frontUrl === undefined
            ? []
            : [
                await hookFinding(
                  { boardId, ...access },
                  { frontUrl, paths, probes, projectId, session },
                ),
              ]),
        ]),
  ];
}

function columnFinding(lacking: readonly string[], there: number, missing: number): Finding {
  const fix = 'Run `mesh board setup`.';
  if (lacking.length > 0) return fail('board projects', lacking.join('; '), fix);
  if (missing > 0) {
    const says = `${missing} of the queues have no project yet; each is made when its first task comes`;
    return warn('board projects', says, fix);
  }
  return ok('board projects', `${there}, all with their columns`);
}

const tries = 8;

async function writersFinding(probes: BoardProbes, projectId: number): Promise<Finding> {
  const locked = await probes.lockedWrites(projectId, tries);
  return locked === 0
    ? ok('board writers', 'none was locked out')
    : warn('board writers', `${locked} of ${tries} at once found the database locked`, lockedFix);
}

interface HookCheck {
  readonly frontUrl: string;
  readonly paths: HomePaths;
  readonly probes: BoardProbes;
  readonly projectId: number;
  readonly session: Session;
}

async function hookFinding(
  access: KanboardAccess,
  { frontUrl, paths, probes, projectId, session }: HookCheck,
): Promise<Finding> {
  const heard = await hearsChanges(frontUrl, paths, probes, projectId, session.clock);
  if (heard === 'heard') return ok('board webhook', 'a change is heard at once');
  if (heard === 'unknown') return ok('board webhook', `not tried: ${frontUrl} says nothing of one`);
  const says = `a change was not heard at ${webhookUrl(access, frontUrl)}: the mesh finds it at its next look`;
  return warn('board webhook', says, 'Run `mesh board setup`: it says what to set, and where.');
}

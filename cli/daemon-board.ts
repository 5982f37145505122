import { readFile } from 'node:fs/promises';
import type { CardRegistry } from '../cards/registry/card-registry.ts';
import { MeshError } from '../fabric/domain/errors.ts';
import { lockHome, type HomeLock } from '../fabric/embedded/home-lock.ts';
import { remoteBoard } from '../fabric/remote/remote-board.ts';
import { systemClock } from '../fabric/telemetry/system-clock.ts';
import { systemRandom } from '../fabric/telemetry/system-random.ts';
import { boardChoiceOf } from './board-choice.ts';
import type { KanboardSettings } from './board-settings.ts';
import type { Closers } from './closers.ts';
import type { ComposeOptions } from './compose.ts';
import type { Environment, MeshConfig } from './config.ts';
import { homeInUse } from './home-in-use.ts';
import type { HomePaths } from './home.ts';
import { kanboardAccess } from './kanboard-access.ts';

/** The board that a daemon works on, and how its mesh is composed with it. */
export interface DaemonBoard {
  /** The front of the mesh whose board it is; undefined where it is the home's own or a Kanboard. */
  readonly remote?: string;
  /** The home is ours as long as this is held. */
  readonly lock?: HomeLock;
  readonly parts: Pick<ComposeOptions, 'board' | 'kanboard' | 'isBeside'>;
  /** For people. */
  readonly name: string;
}

export interface DaemonBoardOptions {
  readonly paths: HomePaths;
  readonly config: MeshConfig;
  readonly environment: Environment;
  /** As typed after --board. */
  readonly board: string | undefined;
  /** As typed after --token. */
  readonly token: string | undefined;
  /** As typed: `mesh serve`. */
  readonly command: string;
  readonly closers: Closers;
}

/** The board of a process that owns its home, unless it works on another mesh's. */
export async function ownerBoard(options: DaemonBoardOptions): Promise<DaemonBoard> {
  const choice = boardChoiceOf(options.board, options.config);
  if (choice.kind === 'mesh') return overFront(choice.url, options);
  const lock = await ownHome(options);
  return choice.kind === 'embedded'
    ? { lock, parts: {}, name: 'embedded' }
    : { lock, ...onKanboard(choice.settings, options) };
}

/**
 * The board of a process that runs beside others: the one that was named, else that of whoever owns the home, else
 * the home's own. `agentId` is the only agent that the process serves, where it serves one.
 */
export async function workerBoard(
  options: DaemonBoardOptions,
  agentId?: string,
): Promise<DaemonBoard> {
  const { paths, command, config, closers } = options;
  const choice = boardChoiceOf(options.board, config);
  if (choice.kind === 'mesh') return overFront(choice.url, options);
  const lock = await lockHome(paths.lock, { pid: process.pid, command });
  if (lock.kind === 'locked') {
    closers.add(() => {
      lock.release();
    });
    return choice.kind === 'embedded'
      ? { parts: {}, name: 'embedded' }
      : onKanboard(choice.settings, options, agentId);
  }
  // A Kanboard is there for everybody; who was not told to use it directly asks whoever has the home.
  if (choice.kind === 'kanboard' && options.board !== undefined) {
    const { parts, name } = onKanboard(choice.settings, options, agentId);
    return { parts: { ...parts, isBeside: true }, name };
  }
  if (lock.holder?.url === undefined) throw homeInUse(paths.home, lock.holder);
  return overFront(lock.holder.url, options);
}

function onKanboard(
  settings: KanboardSettings,
  { paths, environment }: DaemonBoardOptions,
  agentId?: string,
): Pick<DaemonBoard, 'parts' | 'name'> {
  const kanboard = (registry: CardRegistry) => {
    if (agentId !== undefined) requireTrusted(registry, agentId);
    return kanboardAccess(settings, { paths, environment, random: systemRandom });
  };
  return { parts: { kanboard }, name: `kanboard:${settings.url ?? 'own'}` };
}

/** Kanboard's application token is a superuser's; a process that is not trusted never holds it (`DESIGN.md` 5.2). */
function requireTrusted(registry: CardRegistry, agentId: string): void {
  const trust = registry.card(agentId)?.trust;
  if (trust !== 'sandboxed' && trust !== 'untrusted') return;
  throw new MeshError(
    'TRUST_DENIED',
    `${agentId} is ${trust}, and whoever works on a Kanboard holds its application token, which may do everything ` +
      'there. Let `mesh up` drain its queue, which runs it apart, or serve it with --board mesh:<front url> and a ' +
      'token of its own.',
  );
}

async function overFront(url: string, options: DaemonBoardOptions): Promise<DaemonBoard> {
  const { paths, environment } = options;
  const own = () => readFile(paths.operatorToken, 'utf8').catch(() => '');
  const token = options.token ?? environment.token ?? (await own()).trim();
  if (token === '') {
    throw new MeshError(
      'UNAUTHENTICATED',
      `The board at ${url} needs a token with the scope tasks:work: give --token or MESH_TOKEN.`,
    );
  }
  const board = remoteBoard({
    url,
    authorization: () => Promise.resolve(`Bearer ${token}`),
    fetch,
    clock: systemClock,
  });
  return { remote: url, parts: { board }, name: url };
}

/** The home for this process alone. */
async function ownHome({ paths, command, closers }: DaemonBoardOptions): Promise<HomeLock> {
  const lock = await lockHome(paths.lock, { pid: process.pid, command });
  if (lock.kind === 'locked') {
    closers.add(() => {
      lock.release();
    });
    return lock;
  }
  const { holder } = lock;
  const who = holder
    ? `${holder.command}, process ${holder.pid}${holder.url ? `, ${holder.url}` : ''}`
    : 'another process';
  throw new MeshError(
    'FABRIC_DOWN',
    `The mesh home ${paths.home} is in use (${who}). Stop that one, or name another home with --home.`,
  );
}

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { InvalidValueError } from '../../fabric/domain/errors.ts';
import { lockHome } from '../../fabric/embedded/home-lock.ts';
import { pinoLog } from '../../fabric/telemetry/pino-log.ts';
import { boardChoiceOf } from '../board-choice.ts';
import type { KanboardSettings } from '../board-settings.ts';
import type { Closers } from '../closers.ts';
import {
  loadConfig,
  loadEnvironment,
  logLevelOf,
  type Environment,
  type MeshConfig,
} from '../config.ts';
import { homeInUse } from '../home-in-use.ts';
import { keepPrivate, type HomePaths } from '../home.ts';
import {
  kanboardAccess,
  type KanboardAccess,
  type KanboardAccessDeps,
} from '../kanboard-access.ts';
import { requireHome } from '../require-home.ts';
import type { Session } from '../session.ts';

/** A home and the Kanboard of it, for the verbs that look after the board. */
export interface BoardGround {
  readonly paths: HomePaths;
  readonly config: MeshConfig;
  readonly environment: Environment;
  readonly access: KanboardAccess;
  /** The `mesh up` that holds the home. */
  readonly frontUrl: string | undefined;
}

/** @throws MeshError where the home has no Kanboard, or its own one is not to be had */
export async function boardGround(
  session: Session,
  board: string | undefined,
  closers: Closers,
): Promise<BoardGround> {
  keepPrivate();
  const paths = requireHome(session.globals);
  const environment = loadEnvironment();
  const config = await loadConfig(paths.home, environment);
  const settings = settingsOf(board, config);
  const frontUrl = await whoRuns(paths, settings.url === undefined, closers);
  const log = pinoLog({ level: logLevelOf(environment) ?? 'silent' });
  const deps = {
    ...{ paths, environment, random: session.random, log, signal: session.signal },
    say: session.note,
  };
  const access = await accessOf(settings, deps, frontUrl);
  closers.add(() => access.own?.stop());
  return { paths, config, environment, access, frontUrl };
}

/** @throws InvalidValueError for a home whose tasks lie in its own database */
export function settingsOf(board: string | undefined, config: MeshConfig): KanboardSettings {
  const choice = boardChoiceOf(board, config);
  if (choice.kind === 'kanboard') return choice.settings;
  throw new InvalidValueError(
    'The tasks of this home lie in its own database. Name a Kanboard: board.kanboard.url in mesh.yaml, ' +
      'or --board kanboard:<url>.',
    'board',
  );
}

/** The front that runs on the home; the home is held for us where only its owner may start its Kanboard. */
async function whoRuns(
  { lock, home }: HomePaths,
  isOwn: boolean,
  closers: Closers,
): Promise<string | undefined> {
  const held = await lockHome(lock, { pid: process.pid, command: 'mesh board' });
  if (held.kind === 'locked') {
    if (!isOwn) held.release();
    else
      closers.add(() => {
        held.release();
      });
    return undefined;
  }
  const url = held.holder?.url;
  if (url === undefined && isOwn) throw homeInUse(home, held.holder);
  return url?.replace(/\/+$/u, '');
}

async function accessOf(
  settings: KanboardSettings,
  deps: KanboardAccessDeps,
  frontUrl: string | undefined,
): Promise<KanboardAccess> {
  if (settings.url !== undefined || frontUrl === undefined) return kanboardAccess(settings, deps);
  const running = await runningOwn(settings, deps);
  if (running !== undefined) return running;
  throw new InvalidValueError(
    'The mesh that runs on this home has no Kanboard of its own. Name the one it has: --board kanboard:<url>.',
    'board',
  );
}

/** The mesh's own Kanboard, as whoever started it has written it down; it may be stopped. */
export async function runningOwn(
  settings: KanboardSettings,
  deps: KanboardAccessDeps,
): Promise<KanboardAccess | undefined> {
  const { paths, environment } = deps;
  const textOf = (file: string) => readFile(join(paths.ownKanboard, file), 'utf8').catch(() => '');
  const [port, token] = [(await textOf('data/port')).trim(), (await textOf('api.token')).trim()];
  if (port === '' || token === '') return undefined;
  const url = `http://127.0.0.1:${port}`;
  const kanboard = { ...environment.kanboard, token };
  const named = { ...deps, environment: { ...environment, kanboard } };
  const access = await kanboardAccess({ ...settings, url }, named);
  return { ...access, folder: `own-${settings.boardId}` };
}

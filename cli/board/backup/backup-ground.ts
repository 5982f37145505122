import { commitOf, gitIn } from '../../../cards/registry/git.ts';
import { pinoLog } from '../../../fabric/telemetry/pino-log.ts';
import { loadConfig, loadEnvironment, type Environment } from '../../config.ts';
import { keepPrivate, type HomePaths } from '../../home.ts';
import { kanboardAccess, type KanboardAccess } from '../../kanboard-access.ts';
import { requireHome } from '../../require-home.ts';
import type { Session } from '../../session.ts';
import { runningOwn, settingsOf } from '../board-ground.ts';
import type { BackupManifest } from './manifest.ts';

/** A home and which board it has; its own Kanboard may run, and is not started for this. */
export interface BackupGround {
  readonly paths: HomePaths;
  readonly environment: Environment;
  readonly board: Pick<BackupManifest['board'], 'kind' | 'url' | 'boardId'>;
  /** What this home knows of that board. */
  readonly folder: string;
  /** What opens the board, if it runs; absent where the mesh's own was never started here. */
  readonly access: KanboardAccess | undefined;
}

/** @throws MeshError where there is no home, or its tasks lie on no Kanboard */
export async function backupGround(
  session: Session,
  named: string | undefined,
): Promise<BackupGround> {
  keepPrivate();
  const paths = requireHome(session.globals);
  const environment = loadEnvironment();
  const settings = settingsOf(named, await loadConfig(paths.home, environment));
  const { random, note: say, signal } = session;
  const deps = { paths, environment, random, log: pinoLog({ level: 'silent' }), say, signal };
  const { url, boardId } = settings;
  const kind = url === undefined ? 'own' : 'foreign';
  const access = await (kind === 'own'
    ? runningOwn(settings, deps)
    : kanboardAccess(settings, deps));
  return {
    ...{ paths, environment, access },
    board: { kind, url: access?.url ?? 'own', boardId },
    folder: access?.folder ?? `own-${boardId}`,
  };
}

/** The commit that has mesh.yaml and the Cards, and whether all of them are in it. */
export async function gitOf({
  paths,
  environment,
}: Pick<BackupGround, 'paths' | 'environment'>): Promise<BackupManifest['git']> {
  const git = gitIn({ dir: paths.home, environment: environment.all });
  try {
    const head = await commitOf(git, 'HEAD');
    if (head === undefined) return undefined;
    const changed = await git(['status', '--porcelain']);
    return { head, isClean: changed.length === 0 };
  } catch {
    // A home without git has no commit; its Cards are checked elsewhere.
    return undefined;
  }
}

import { MeshError } from '../fabric/domain/errors.ts';
import { loadEnvironment } from './config.ts';
import { hasHome, homePaths, type HomePaths } from './home.ts';
import type { MeshOptions } from './mesh-connection.ts';

/** The home that `--home`, MESH_HOME or the current folder names, whether it is there or not. */
export const namedHome = ({ home }: MeshOptions): HomePaths =>
  homePaths(home ?? loadEnvironment().home);

/** @throws MeshError `NOT_FOUND` where there is no mesh home */
export function requireHome(options: MeshOptions): HomePaths {
  const paths = namedHome(options);
  if (hasHome(paths)) return paths;
  throw new MeshError(
    'NOT_FOUND',
    `There is no mesh home at ${paths.home}. Make one with \`mesh init\`, or name yours with --home.`,
    { path: 'home' },
  );
}

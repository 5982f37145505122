import { lstat, readdir, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { reasonOf } from '../../fabric/domain/errors.ts';
import { lockHome } from '../../fabric/embedded/home-lock.ts';
import { loadConfig, type Environment, type MeshConfig } from '../config.ts';
import { hasHome, type HomePaths } from '../home.ts';
import { shellWord } from '../text/shell-word.ts';
import { fail, ok, warn, type Finding } from './finding.ts';

/** Whether there is a home and its settings are sound; the settings where they are. */
export async function settingsFinding(
  paths: HomePaths,
  environment: Environment,
): Promise<{ readonly finding: Finding; readonly config?: MeshConfig }> {
  if (!hasHome(paths)) {
    const says = `there is none at ${paths.home}`;
    return { finding: fail('home', says, 'Make one with `mesh init`, or name yours with --home.') };
  }
  try {
    const config = await loadConfig(paths.home, environment);
    return { finding: ok('home', paths.home), config };
  } catch (error) {
    return { finding: fail('home', reasonOf(error), `Edit ${paths.config} and commit it.`) };
  }
}

const othersBits = 0o077;
const mostNamed = 3;

/** Everything below `state/` is its owner's alone: folders 0700, files 0600. */
export async function modeFinding({ home, state }: HomePaths): Promise<Finding> {
  const root = await stat(state).catch(() => undefined);
  if (root === undefined) return ok('state', 'not made yet; `mesh up` makes it');
  // Below it nobody else gets anyway, so only what lies on top is looked at one by one.
  const names = await readdir(state);
  const open: string[] = [];
  for (const path of [state, ...names.map((name) => join(state, name))]) {
    const { mode } = await lstat(path);
    if ((mode & othersBits) !== 0) open.push(relative(home, path));
  }
  if (open.length === 0) return ok('state', 'readable by its owner only');
  const named = open.slice(0, mostNamed).join(', ');
  const more = open.length > mostNamed ? ` and ${open.length - mostNamed} more` : '';
  const fix = `Run: chmod -R go-rwx ${shellWord(state)}`;
  const says = `others may read ${named}${more}`;
  return (root.mode & othersBits) === 0 ? warn('state', says, fix) : fail('state', says, fix);
}

/** The secret that task ids are made with. */
export async function secretFinding(
  { secret }: HomePaths,
  environment: Environment,
): Promise<Finding> {
  if (environment.meshSecret !== undefined) return ok('secret', 'from MESH_SECRET');
  const found = await stat(secret).catch(() => undefined);
  return found
    ? ok('secret', 'in the home')
    : fail('secret', 'there is none', 'Run `mesh init` once more: it makes what is missing.');
}

/** A mesh that runs on this home, with what its own environment gave it. */
export interface RunningFront {
  readonly url: string;
  readonly gatewayUrl: string | undefined;
}

/** Who has the home's local database open; what it says of itself, where it serves a front. */
export async function lockFinding({
  lock,
}: HomePaths): Promise<{ readonly finding: Finding; readonly front?: RunningFront }> {
  try {
    const held = await lockHome(lock, { pid: process.pid, command: 'mesh doctor' });
    if (held.kind === 'locked') {
      held.release();
      return { finding: ok('lock', 'free: no mesh runs here') };
    }
    const { holder } = held;
    const says = holder ? `held by \`${holder.command}\`, process ${holder.pid}` : 'held';
    if (holder?.url === undefined) return { finding: ok('lock', says) };
    const { url, gatewayUrl } = holder;
    return { finding: ok('lock', says), front: { url, gatewayUrl } };
  } catch (error) {
    const fix = 'Check that the home’s state folder may be written.';
    return { finding: fail('lock', reasonOf(error), fix) };
  }
}

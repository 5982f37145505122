import { listCards, type HomeView } from '../cards/registry/card-operations.ts';
import { loadConfig, loadEnvironment } from './config.ts';
import { requireHome } from './require-home.ts';
import type { Session } from './session.ts';

/**
 * The home's Cards as they lie there, or as `ref` has them.
 * @throws MeshError `NOT_FOUND` without a home, `VALIDATION_ERROR` for its settings
 */
export async function homeView({ globals, clock }: Session, ref?: string): Promise<HomeView> {
  const { home } = requireHome(globals);
  const environment = loadEnvironment();
  const { defaultHuman } = await loadConfig(home, environment);
  return {
    home,
    defaultHuman,
    environment: environment.all,
    nowMs: clock.nowMs(),
    ...(ref === undefined ? {} : { ref }),
  };
}

/** Ids of the home's Cards, for a word about a name that is none of them; empty where they can't be read. */
export async function cardIds(session: Session): Promise<readonly string[]> {
  try {
    return (await listCards(await homeView(session))).rows.map(({ id }) => id);
  } catch {
    return [];
  }
}

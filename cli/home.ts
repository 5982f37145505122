import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** Where everything of a mesh home lies; `state/` is ignored by git and readable by its owner only. */
export interface HomePaths {
  readonly home: string;
  readonly config: string;
  readonly state: string;
  readonly database: string;
  readonly ledger: string;
  readonly artifacts: string;
  readonly keys: string;
  /** A file a person: `<id>.password` for the Kanboard that the mesh made users of. */
  readonly boardPasswords: string;
  readonly secret: string;
  readonly operatorToken: string;
  readonly tokens: string;
  readonly lock: string;
  readonly procs: string;
  /** Which digests went out today, a file each. */
  readonly digests: string;
  /** Streams of processes that work on another board, a folder each. */
  readonly beside: string;
  /** What this home knows of each Kanboard it worked on, a folder each; made anew from it where it is missing. */
  readonly boards: string;
  /** Data and token of the mesh's own Kanboard. */
  readonly ownKanboard: string;
  /** Kanboard's application token, and the one that its webhook presents. */
  readonly kanboardToken: string;
  readonly kanboardWebhookToken: string;
}

/** The home that `--home`, `MESH_HOME` or the current folder names. */
export function homePaths(home: string | undefined): HomePaths {
  const root = resolve(home ?? '.mesh');
  const state = join(root, 'state');
  const keys = join(state, 'keys');
  return {
    home: root,
    config: join(root, 'mesh.yaml'),
    state,
    database: join(state, 'mesh.db'),
    ledger: join(state, 'ledger.db'),
    artifacts: join(state, 'artifacts'),
    keys,
    boardPasswords: join(keys, 'kanboard-users'),
    secret: join(keys, 'mesh.secret'),
    operatorToken: join(state, 'operator.token'),
    tokens: join(state, 'tokens.json'),
    lock: join(state, 'home.lock'),
    procs: join(state, 'procs'),
    digests: join(state, 'digests'),
    beside: join(state, 'beside'),
    boards: join(state, 'boards'),
    ownKanboard: join(state, 'kanboard'),
    kanboardToken: join(keys, 'kanboard.token'),
    kanboardWebhookToken: join(keys, 'kanboard-webhook.token'),
  };
}

export const hasHome = (paths: HomePaths): boolean => existsSync(paths.config);

/** From here on this process makes files for its owner only: databases, locks, runs. */
export function keepPrivate(): void {
  process.umask(0o077);
}

import type { TaskBoard } from '../fabric/ports/task-board.ts';

/** How a command finds the mesh; absent fields come from the environment, then from defaults. */
export interface MeshOptions {
  /** Default: MESH_HOME, else `./.mesh`. */
  readonly home?: string;
  /** Address of a running front; default: the home's own. */
  readonly url?: string;
  /** API token; default: MESH_TOKEN, else the home's `state/operator.token`. */
  readonly token?: string;
  /** As typed: `send`. Whoever finds the home held reads it. */
  readonly verb?: string;
}

/** A mesh that a command can talk to: the running front, or one in this process under the home's lock. */
export interface MeshConnection {
  readonly home: string;
  /** The front's base URL, without a slash at its end. */
  readonly url: string;
  readonly token: string;
  /** Whom the token belongs to. */
  readonly principal: string;
  /** Goes to the front at `url`; rejects like `fetch` when it can't be reached. */
  fetch(input: string | URL, init?: RequestInit): Promise<Response>;
  readonly board: TaskBoard;
  /** No front runs: what is submitted waits until one does, and nobody else gets in meanwhile. */
  readonly inProcess: boolean;
  /** Its board is no process's own: meshes elsewhere work on it, whether one runs here or not. */
  readonly isShared?: boolean;
  close(): Promise<void>;
}

/**
 * Opens the mesh of `options`; the caller closes it.
 * @throws MeshError `NOT_FOUND` without a home, `FABRIC_DOWN` when neither a front answers nor the
 *   home's lock is free, `UNAUTHENTICATED` without a token
 */
export type OpenMesh = (options: MeshOptions) => Promise<MeshConnection>;

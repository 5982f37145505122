import { z } from 'zod';
import { reasonOf } from '../domain/errors.ts';
import type { PrincipalId } from '../domain/ids.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import { call, resultOf, UserRows } from './kanboard-rows.ts';
import type { KanboardRpc } from './kanboard-rpc.ts';

export interface BoardUsersOptions {
  readonly rpc: KanboardRpc;
  readonly clock: Clock;
  readonly log: Log;
}

/** How long an answer is believed: a user who left a project would have createTask refused. */
const freshMs = 60_000;

type Ids = ReadonlyMap<string, number>;

/** Who of the mesh has a Kanboard user of the same name, for owner and creator; it decides nothing. */
export class BoardUsers {
  readonly #options: BoardUsersOptions;
  readonly #looks = new Map<number, { readonly atMs: number; readonly ids: Promise<Ids> }>();

  constructor(options: BoardUsersOptions) {
    this.#options = options;
  }

  /** The user who may be named in the project; undefined also while the board can't say. */
  async of(projectId: number, principal: PrincipalId): Promise<number | undefined> {
    const nowMs = this.#options.clock.monotonicMs();
    const known = this.#looks.get(projectId);
    const isFresh = known !== undefined && nowMs - known.atMs < freshMs;
    const look = isFresh ? known : { atMs: nowMs, ids: this.#look(projectId) };
    this.#looks.set(projectId, look);
    return (await look.ids).get(principal);
  }

  async #look(projectId: number): Promise<Ids> {
    const { rpc, log } = this.#options;
    try {
      const [users, assignable] = await rpc.batch([
        call('getAllUsers'),
        call('getAssignableUsers', { project_id: projectId, prepend_unassigned: false }),
      ]);
      const may = new Set(Object.keys(resultOf(assignable, Assignable, 'a project’s users')));
      const rows = resultOf(users, UserRows, 'the list of users');
      const named = rows.filter(({ userId }) => may.has(String(userId)));
      return new Map(named.map(({ name, userId }) => [name, userId]));
    } catch (error) {
      log.debug('board.users-unknown', { reason: reasonOf(error) });
      return new Map();
    }
  }
}

/** Names by user id, and `[]` where PHP has nothing to name. */
const Assignable = z.union([
  z.record(z.string(), z.string()),
  z.array(z.unknown()).transform((): Record<string, string> => ({})),
]);

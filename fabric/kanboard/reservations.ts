import type { TaskId } from '../domain/ids.ts';
import type { Clock } from '../ports/clock.ts';
import type { Random } from '../ports/random.ts';
import type { Call, KanboardRpc, Reply } from './kanboard-rpc.ts';
import { call, resultOf, TagRows } from './kanboard-rows.ts';
import { namespaceOf, readNamespace, type Namespace, type TagRow } from './slot-namespace.ts';

export interface ReservationsOptions {
  readonly rpc: KanboardRpc;
  readonly clock: Clock;
  readonly random: Random;
}

/** Who has not done it by then is taken for dead; a late one is why it is looked up before it is done. */
const staleMs = 10_000;

export interface Taken {
  /** This process is the one to do it. */
  readonly isOurs: boolean;
  /** The task's log as the board had it with the reservation. */
  readonly log: Namespace;
  /** What `also` gave, asked after the reservation: whoever had it before has been seen. */
  readonly also: readonly Reply[];
}

/**
 * Lets one of several processes do what must not be done twice and what no slot of a log stands for: a tag
 * in the task's namespace, as a slot is (`DESIGN.md` 5.2). A reservation stays; one whose holder did not
 * finish is stepped over.
 */
export class Reservations {
  readonly #options: ReservationsOptions;
  readonly #token: string;
  /** Reservations of others, and since when they are known here. */
  readonly #others = new Map<string, { readonly turn: number; readonly sinceMs: number }>();

  constructor(options: ReservationsOptions) {
    this.#options = options;
    this.#token = options.random.hex(8);
  }

  /** Tries to be the one for `what` of a task; asks `also` in the same request. */
  async take(uid: TaskId, what: string, also: readonly Call[] = []): Promise<Taken> {
    const project_id = namespaceOf(uid);
    const name = `${uid}-${what}`;
    const [, listed, ...replies] = await this.#options.rpc.batch([
      call('createTag', { project_id, tag: nameOf(name, this.#turn(name)), color_id: this.#token }),
      call('getTagsByProject', { project_id }),
      ...also,
    ]);
    const rows = resultOf(listed, TagRows, 'a reservation');
    return { isOurs: this.#isOurs(name, rows), log: readNamespace(uid, rows), also: replies };
  }

  #turn(name: string): number {
    const other = this.#others.get(name);
    if (other === undefined) return 1;
    const isStale = this.#options.clock.monotonicMs() - other.sinceMs > staleMs;
    return isStale ? other.turn + 1 : other.turn;
  }

  #isOurs(name: string, rows: readonly TagRow[]): boolean {
    const [newest] = rows
      .flatMap((row) => {
        const turn = turnOf(name, row.name);
        return turn === undefined ? [] : [{ turn, holder: row.color }];
      })
      .sort((one, other) => other.turn - one.turn);
    if (newest === undefined || newest.holder === this.#token) {
      this.#others.delete(name);
      return newest !== undefined;
    }
    if (this.#others.get(name)?.turn !== newest.turn) {
      const sinceMs = this.#options.clock.monotonicMs();
      this.#others.set(name, { turn: newest.turn, sinceMs });
    }
    return false;
  }
}

const nameOf = (name: string, turn: number): string => `${name}-by-${turn}`;

function turnOf(name: string, row: string): number | undefined {
  if (!row.startsWith(`${name}-by-`)) return undefined;
  const turn = Number(row.slice(name.length + '-by-'.length));
  return Number.isSafeInteger(turn) ? turn : undefined;
}

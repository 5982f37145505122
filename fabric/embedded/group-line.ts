import type { MessagePort } from 'node:worker_threads';
import { BoardUnavailableError } from '../domain/errors.ts';
import type { Batch, FromThread, GroupEnd, Read, ReadAnswer, Write } from './group-messages.ts';
import { adviceOn, type SqliteFailure } from './sqlite-failure.ts';
import type { SqliteValue } from './sqlite-module.ts';

/** Unacknowledged text (characters) from which on buffered writes wait for the disk after all. */
const backlogChars = 32 * 1024 * 1024;

interface Pending {
  readonly number: number;
  readonly writes: Write[];
  readonly reads: Read[];
  readonly done: PromiseWithResolvers<undefined>;
  readonly committed: (() => void)[];
  chars: number;
  hasBuffered: boolean;
}

interface PromiseWithResolvers<T> {
  readonly promise: Promise<T>;
  resolve(value: T): void;
  reject(reason: unknown): void;
}

interface Waiter {
  resolve(rows: readonly unknown[]): void;
  reject(reason: unknown): void;
}

/**
 * The main thread's end of a port to the board's thread. What one tick asks goes over as one batch; its
 * writes share one promise, which resolves at their commit.
 */
export class GroupLine {
  readonly #port: MessagePort;
  readonly #waiters = new Map<number, Waiter>();
  readonly #sent: Pending[] = [];
  readonly #dropMemory: (lost: BoardUnavailableError, buffered: boolean) => void;
  #building: Pending | undefined;
  #backlog = 0;
  #lastNumber = 0;
  #lastRead = 0;
  #epoch = 0;
  #ended: BoardUnavailableError | undefined;
  #closed: PromiseWithResolvers<undefined> | undefined;

  /** @param dropMemory called when a group failed: all that memory holds beyond the file is wrong */
  constructor(
    port: MessagePort,
    dropMemory: (lost: BoardUnavailableError, buffered: boolean) => void,
  ) {
    this.#port = port;
    this.#dropMemory = dropMemory;
    port.on('message', (message: FromThread) => {
      this.#take(message);
    });
    port.on('close', () => {
      this.#end("The board's thread has ended. Restart this process.");
    });
    port.unref();
  }

  /** Grows with every group that failed. */
  get epoch(): number {
    return this.#epoch;
  }

  /** Whether so much waits for the disk that nobody should go on without it. */
  get isBacklogged(): boolean {
    return this.#backlog > backlogChars;
  }

  /** Everything asked so far has been answered. */
  get isIdle(): boolean {
    return this.#building === undefined && this.#sent.length === 0;
  }

  /**
   * Puts `writes` into the next group, in order, and returns at its commit.
   * @param chars length of the texts, for the bound of what may wait
   * @param committed called at the commit, before anybody who awaits it goes on
   * @param isBuffered its author does not wait: a loss is to be told at the next flush
   */
  write(
    writes: readonly Write[],
    chars: number,
    { committed, isBuffered = false }: { committed?: () => void; isBuffered?: boolean } = {},
  ): Promise<void> {
    if (this.#ended) return Promise.reject(this.#ended);
    const batch = this.#next();
    batch.writes.push(...writes);
    batch.chars += chars;
    this.#backlog += chars;
    if (isBuffered) batch.hasBuffered = true;
    if (committed) batch.committed.push(committed);
    return batch.done.promise;
  }

  /** Rows of a query, as of after everything written before it. */
  read(sql: string, ...values: SqliteValue[]): Promise<readonly unknown[]> {
    if (this.#ended) return Promise.reject(this.#ended);
    const id = ++this.#lastRead;
    this.#next().reads.push({ id, sql, values });
    return new Promise((resolve, reject) => {
      this.#waiters.set(id, { resolve, reject });
    });
  }

  /** Resolves when everything written so far is durable. */
  async settled(): Promise<void> {
    await (this.#building ?? this.#sent.at(-1))?.done.promise;
  }

  async close(): Promise<void> {
    if (this.#ended) return;
    if (this.#closed) {
      await this.#closed.promise;
      return;
    }
    this.#post();
    this.#closed = withResolvers();
    this.#port.ref();
    this.#port.postMessage({ kind: 'close' });
    await this.#closed.promise;
  }

  #next(): Pending {
    if (this.#building) return this.#building;
    const done = withResolvers<undefined>();
    // Whoever buffers does not wait; the loss is told by dropMemory.
    done.promise.catch(() => undefined);
    this.#building = {
      number: ++this.#lastNumber,
      writes: [],
      reads: [],
      done,
      committed: [],
      chars: 0,
      hasBuffered: false,
    };
    this.#port.ref();
    setImmediate(() => {
      this.#post();
    });
    return this.#building;
  }

  #post(): void {
    const batch = this.#building;
    if (batch === undefined || this.#ended) return;
    this.#building = undefined;
    this.#sent.push(batch);
    const { number, writes, reads } = batch;
    this.#port.postMessage({
      kind: 'batch',
      number,
      epoch: this.#epoch,
      writes,
      reads,
    } satisfies Batch);
  }

  #take(message: FromThread): void {
    if (message.kind === 'group') this.#endGroup(message);
    if (message.kind === 'closed') {
      this.#end('The board is closed. Open it again to go on.');
    }
    if (this.isIdle) this.#port.unref();
  }

  #endGroup({ upTo, failure, reads }: GroupEnd): void {
    for (const answer of reads) this.#answer(answer);
    const batches: Pending[] = [];
    for (let first = this.#sent[0]; first && first.number <= upTo; first = this.#sent[0]) {
      batches.push(first);
      this.#sent.shift();
    }
    if (batches.length === 0) return;
    if (failure) {
      this.#lose([...batches, ...this.#takeUnanswered()], unavailable(failure));
      return;
    }
    for (const batch of batches) {
      this.#backlog -= batch.chars;
      for (const committed of batch.committed) committed();
      batch.done.resolve(undefined);
    }
  }

  #answer(answer: ReadAnswer): void {
    const waiter = this.#waiters.get(answer.id);
    this.#waiters.delete(answer.id);
    if ('failure' in answer) waiter?.reject(unavailable(answer.failure));
    else waiter?.resolve(answer.rows);
  }

  /** Batches that were built on what has just been lost. */
  #takeUnanswered(): Pending[] {
    const rest = this.#sent.splice(0);
    if (this.#building) rest.push(this.#building);
    this.#building = undefined;
    return rest;
  }

  #lose(batches: readonly Pending[], error: BoardUnavailableError): void {
    if (batches.length === 0) return;
    this.#epoch += 1;
    const isBufferLost = batches.some(({ hasBuffered }) => hasBuffered);
    this.#dropMemory(error, isBufferLost);
    for (const batch of batches) {
      this.#backlog -= batch.chars;
      for (const { id } of batch.reads) {
        this.#waiters.get(id)?.reject(error);
        this.#waiters.delete(id);
      }
      batch.done.reject(error);
    }
  }

  #end(reason: string): void {
    if (this.#ended) return;
    this.#ended = new BoardUnavailableError(reason);
    this.#lose(this.#takeUnanswered(), this.#ended);
    this.#closed?.resolve(undefined);
    this.#port.close();
  }
}

function unavailable(failure: SqliteFailure): BoardUnavailableError {
  return new BoardUnavailableError(`The board's database refused: ${adviceOn(failure)}.`, {
    cause: new Error(failure.message),
  });
}

function withResolvers<T>(): PromiseWithResolvers<T> {
  let resolve: (value: T) => void = () => undefined;
  let reject: (reason: unknown) => void = () => undefined;
  const promise = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}

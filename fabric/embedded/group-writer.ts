import { receiveMessageOnPort, type MessagePort } from 'node:worker_threads';
import { lockDatabase, openDatabase, surveyOf } from './database-file.ts';
import type { Batch, FromThread, Read, ReadAnswer, ToThread, Write } from './group-messages.ts';
import type { OsLock } from './os-lock.ts';
import { writeStatements, type WriteName } from './schema.ts';
import { failureOf, type SqliteFailure } from './sqlite-failure.ts';
import type { SqliteDatabase, SqliteModule, SqliteStatement } from './sqlite-module.ts';

/** A database with its statements; made anew after a failure. */
interface Opened {
  readonly db: SqliteDatabase;
  readonly statements: Map<string, SqliteStatement>;
}

/** Reads are many-shaped; past this many texts the prepared ones are let go. */
const mostStatements = 200;

/**
 * Serves one file over one port, on the board's thread. A group is every batch that came while the
 * last one was committed: one transaction, one fsync. A group that fails is undone as a whole, the file
 * is opened anew, and batches that the other side built on the undone ones are refused by their epoch.
 */
export class GroupWriter {
  readonly #sqlite: SqliteModule;
  readonly #path: string;
  readonly #port: MessagePort;
  #lock: OsLock | undefined;
  #open: Opened | undefined;
  #failed: { readonly epoch: number; readonly failure: SqliteFailure } | undefined;

  constructor(sqlite: SqliteModule, path: string, port: MessagePort) {
    this.#sqlite = sqlite;
    this.#path = path;
    this.#port = port;
  }

  start(): void {
    try {
      this.#lock = lockDatabase(this.#sqlite, this.#path);
      this.#open = this.#opened();
      const survey = surveyOf(this.#open.db);
      this.#send({ kind: 'opened', ...survey });
      this.#port.on('message', (first: ToThread) => {
        this.#serve(first);
      });
    } catch (error) {
      this.#letGo();
      this.#lock?.release();
      this.#send({ kind: 'refused', failure: failureOf(error) });
    }
  }

  #opened(): Opened {
    return { db: openDatabase(this.#sqlite, this.#path), statements: new Map() };
  }

  #send(message: FromThread): void {
    this.#port.postMessage(message);
  }

  /** Takes what else has come meanwhile into the same group. */
  #serve(first: ToThread): void {
    const batches: Batch[] = [];
    let message: ToThread | undefined = first;
    while (message?.kind === 'batch') {
      batches.push(message);
      message = (receiveMessageOnPort(this.#port) as { message: ToThread } | undefined)?.message;
    }
    if (batches.length > 0) this.#runGroup(batches);
    if (message?.kind === 'close') this.#close();
  }

  #runGroup(all: readonly Batch[]): void {
    const upTo = all.at(-1)?.number ?? 0;
    const batches = all.filter(({ epoch }) => epoch > (this.#failed?.epoch ?? -1));
    if (batches.length < all.length && this.#failed) {
      const stale = all.filter((batch) => !batches.includes(batch));
      this.#refuse(stale, this.#failed.failure);
      if (batches.length === 0) return;
    }
    try {
      this.#commit(batches.flatMap(({ writes }) => writes));
    } catch (error) {
      this.#fail(batches, failureOf(error));
      return;
    }
    this.#send({
      kind: 'group',
      upTo,
      reads: this.#answers(batches.flatMap(({ reads }) => reads)),
    });
  }

  #commit(writes: readonly Write[]): void {
    if (writes.length === 0) return;
    this.#open ??= this.#opened();
    this.#statement('BEGIN IMMEDIATE').run();
    for (const [name, ...values] of writes) this.#write(name).run(...values);
    this.#statement('COMMIT').run();
  }

  #write(name: WriteName): SqliteStatement {
    return this.#statement(writeStatements[name]);
  }

  #statement(sql: string): SqliteStatement {
    this.#open ??= this.#opened();
    const { db, statements } = this.#open;
    const known = statements.get(sql);
    if (known) return known;
    if (statements.size >= mostStatements) statements.clear();
    const prepared = db.prepare(sql);
    statements.set(sql, prepared);
    return prepared;
  }

  #answers(reads: readonly Read[]): ReadAnswer[] {
    return reads.map(({ id, sql, values }) => {
      try {
        return { id, rows: this.#statement(sql).all(...values) };
      } catch (error) {
        return { id, failure: failureOf(error) };
      }
    });
  }

  /** Nothing of the group was acknowledged; what the file holds after a new opening is the truth. */
  #fail(batches: readonly Batch[], failure: SqliteFailure): void {
    this.#failed = { epoch: batches.at(-1)?.epoch ?? 0, failure };
    this.#letGo();
    this.#refuse(batches, failure);
  }

  #refuse(batches: readonly Batch[], failure: SqliteFailure): void {
    const reads = batches.flatMap((batch) => batch.reads.map(({ id }) => ({ id, failure })));
    this.#send({ kind: 'group', upTo: batches.at(-1)?.number ?? 0, failure, reads });
  }

  /** Closing undoes an open transaction. It may fail like any write; the next opening then tells. */
  #letGo(): void {
    const { db } = this.#open ?? {};
    this.#open = undefined;
    try {
      if (db?.isTransaction) db.exec('ROLLBACK');
    } catch {
      // A failed COMMIT can have ended the transaction already.
    }
    try {
      db?.close();
    } catch {
      // Its locks go with the process at the latest.
    }
  }

  #close(): void {
    this.#letGo();
    this.#lock?.release();
    this.#send({ kind: 'closed' });
    this.#port.close();
  }
}

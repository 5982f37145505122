import type { MessagePort } from 'node:worker_threads';
import type { WriteName } from './schema.ts';
import type { SqliteFailure } from './sqlite-failure.ts';
import type { SqliteValue } from './sqlite-module.ts';

/** One prepared statement with its values, in order. */
export type Write = readonly [WriteName, ...SqliteValue[]];

export interface Read {
  readonly id: number;
  readonly sql: string;
  readonly values: readonly SqliteValue[];
}

/** What one tick of the main thread asks: all writes, then, after their commit, all reads. */
export interface Batch {
  readonly kind: 'batch';
  readonly number: number;
  /** Grows with every failed group; a batch that was built on what then failed is refused. */
  readonly epoch: number;
  readonly writes: readonly Write[];
  readonly reads: readonly Read[];
}

export type ToThread = Batch | { readonly kind: 'close' };

export type ReadAnswer =
  | { readonly id: number; readonly rows: readonly unknown[] }
  | { readonly id: number; readonly failure: SqliteFailure };

/** A group's end: batches up to `upTo` are durable, or nothing of them is. */
export interface GroupEnd {
  readonly kind: 'group';
  readonly upTo: number;
  readonly failure?: SqliteFailure;
  readonly reads: readonly ReadAnswer[];
}

export interface Opened {
  readonly kind: 'opened';
  /** How many logs the file has. */
  readonly logs: number;
  /** Greatest log number in use; 0 for an empty file. */
  readonly lastNumber: number;
  /** Bits of `KnownTasks` over every task id in the file. */
  readonly known: Uint32Array<ArrayBuffer>;
  /** The derived rows do not match the logs and are to be made anew. */
  readonly indexIsStale: boolean;
}

export type FromThread =
  | Opened
  | GroupEnd
  | { readonly kind: 'refused'; readonly failure: SqliteFailure }
  | { readonly kind: 'closed' };

/** Asks the thread to serve the file at `path` over `port`. */
export interface OpenRequest {
  readonly path: string;
  readonly port: MessagePort;
}

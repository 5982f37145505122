/** What a statement binds and a row holds. Bind 0/1 for booleans and null for absent (Node 22 throws on both). */
export type SqliteValue = null | number | bigint | string | Uint8Array;

export interface SqliteStatement {
  run(...values: SqliteValue[]): { changes: number | bigint; lastInsertRowid: number | bigint };
  get(...values: SqliteValue[]): unknown;
  all(...values: SqliteValue[]): unknown[];
  iterate(...values: SqliteValue[]): Iterable<unknown>;
  setReadBigInts(enabled: boolean): void;
}

export interface SqliteDatabase {
  exec(sql: string): void;
  prepare(sql: string): SqliteStatement;
  function(name: string, run: (...values: SqliteValue[]) => SqliteValue): void;
  close(): void;
  readonly isTransaction: boolean;
}

/** The `node:sqlite` interface, as narrow as we use it. `timeout` is SQLite's busy_timeout, ms. */
export interface SqliteModule {
  DatabaseSync: new (
    path: string,
    options?: { timeout?: number; readOnly?: boolean },
  ) => SqliteDatabase;
  backup(source: SqliteDatabase, path: string, options?: { rate?: number }): Promise<number>;
}

/**
 * `node:sqlite` on Node 24 and later, else the prebuilt package with the same interface: on Node 22 the
 * built-in warns on stderr and behaves as an older version.
 */
export async function loadSqlite(): Promise<SqliteModule> {
  const builtin = 'node:sqlite'; // a variable: @types/node 20 does not know the module
  if (Number(process.versions.node.split('.')[0]) >= 24) {
    return (await import(builtin)) as SqliteModule;
  }
  return import('@photostructure/sqlite');
}

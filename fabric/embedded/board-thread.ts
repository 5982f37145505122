import { parentPort } from 'node:worker_threads';
import type { OpenRequest } from './group-messages.ts';
import { GroupWriter } from './group-writer.ts';
import { loadSqlite } from './sqlite-module.ts';

const sqlite = await loadSqlite();

parentPort?.on('message', ({ path, port }: OpenRequest) => {
  new GroupWriter(sqlite, path, port).start();
});

import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { createAdaptorServer } from '@hono/node-server';
import { Hono } from 'hono';
import { expect, onTestFinished } from 'vitest';
import { boardRoutes } from '../../agents/board-routes.ts';
import { PrincipalId, type TaskId } from '../../fabric/domain/ids.ts';
import { scopes, type Principal } from '../../fabric/domain/principal.ts';
import type { TaskBoard } from '../../fabric/ports/task-board.ts';
import { cancelTask } from '../../fabric/queue/cancel.ts';
import { startKeeper } from '../../keeper/keeper.ts';
import {
  openCrashHome,
  owner,
  startCrashWorker,
  stateOnce,
  submitCrashTask,
} from './crash-home.ts';
import { actsOf, pidsOf } from './crash-run.ts';
import { temporaryFolder } from './temporary-folder.ts';

const agentId = 'sender';
const leaseMs = 900;
/** Its program is dead this soon after it goes on. */
const deadWithinMs = 5_000;

const worker: Principal = {
  id: PrincipalId.parse(agentId),
  role: 'agent',
  trust: 'trusted',
  scopes: new Set(scopes),
};

/** A board behind a front on loopback, whose address it gives. */
async function served(board: TaskBoard): Promise<string> {
  const onError = (error: Error) =>
    Response.json({ code: 'FABRIC_DOWN', detail: error.message }, { status: 503 });
  const routes = boardRoutes({ board, authenticate: async () => worker, onError });
  const front = new Hono().route('/board', routes);
  const server = createAdaptorServer({ fetch: front.fetch });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/**
 * Stops a holder (SIGSTOP) until its claim was given up, lets it go on, and sees that it publishes
 * nothing and that its program is dead soon; `rounds` times with one worker process.
 */
export async function stopHolders(rounds: number): Promise<void> {
  const home = await temporaryFolder();
  const { board, deps } = await openCrashHome(home, agentId, leaseMs);
  const keeper = startKeeper(deps, { liveness: { isDead: async () => false }, leaseSweepMs: 100 });
  const order = { home, agentId, leaseMs, incarnation: 'holder', keeps: false, workMs: 30_000 };
  const child = await startCrashWorker({ ...order, url: await served(board) });
  await once(createInterface({ input: child.stdout! }), 'line');

  for (let round = 1; round <= rounds; round++) {
    const uid = await submitCrashTask(deps, agentId, `Round ${round}`);
    const held = await stateOnce(board, uid, ({ claim }) => claim?.started === true);
    const key = `${uid} ${held.claim?.fence ?? 0}`;
    await expect.poll(() => pidsOf(home).has(key), { timeout: 5_000, interval: 10 }).toBe(true);
    child.kill('SIGSTOP');
    await stateOnce(board, uid, ({ phase }) => phase === 'needs-review');
    child.kill('SIGCONT');
    const isAlive = () => isRunning(pidsOf(home).get(key) ?? 0);
    await expect.poll(isAlive, { timeout: deadWithinMs, interval: 20 }).toBe(false);
    await cancelTask(deps, { principal: owner, uid });
    expect(await eventsAfterExpiry(board, uid)).toEqual(['canceled']);
  }
  expect(actsOf(home)).toEqual([]);
  child.kill('SIGKILL');
  await once(child, 'exit');
  await keeper.stop();
  await board.close();
}

async function eventsAfterExpiry(board: TaskBoard, uid: TaskId): Promise<string[]> {
  const kinds = ((await board.read(uid))?.events ?? []).map(({ kind }) => kind);
  return kinds.slice(kinds.indexOf('expired') + 1);
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

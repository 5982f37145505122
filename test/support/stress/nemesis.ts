import { expect, onTestFinished } from 'vitest';
import type { TaskId } from '../../../fabric/domain/ids.ts';
import type { TaskBoard } from '../../../fabric/ports/task-board.ts';
import type { QueueDeps } from '../../../fabric/queue/deps.ts';
import { systemRandom } from '../../../fabric/telemetry/system-random.ts';
import { systemClock } from '../../../fabric/telemetry/system-clock.ts';
import type { Phase } from '../../../fabric/domain/state.ts';
import { crashCards } from '../crash-cards.ts';
import { newBoardId } from '../kanboard-board.ts';
import { recordingLog } from '../recording-log.ts';
import { seededRandom } from '../seeded-random.ts';
import { fates } from '../services/fates.ts';
import { startFaultyProxy } from '../services/faulty-proxy.ts';
import { startKanboard, type KanboardOptions } from '../services/kanboard.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { openPlacedBoard, type BoardPlace } from './board-place.ts';
import { nemesisPlan, type NemesisPlan } from './nemesis-plan.ts';
import { judgeStress, logsOn } from './stress-judge.ts';
import { startStressMesh, type StressMesh } from './stress-mesh.ts';
import { stressAgents } from './stress-order.ts';
import { stressPeople, type StressPeople } from './stress-people.ts';
import { witnessed } from './written-down.ts';

export interface Nemesis {
  readonly database: KanboardOptions['database'];
  readonly seed: number;
  readonly stormMs: number;
  readonly tasks: number;
  /** A strike about every so often. */
  readonly everyMs: number;
  /** How long everything that may go on has to do so, once all is well. */
  readonly settleMs: number;
}

const leaseMs = 6_000;
const timeoutMs = 2_500;
/** Of the requests between processes and Kanboard; each of these meets what `fates` draws. */
const badShare = 0.3;

const ended: readonly Phase[] = ['verified', 'refused', 'canceled', 'dead-letter', 'rejected'];

/** `MESH_SEED` replays the schedule of a run that found something. */
export const nemesisSeed = (): number => {
  const { MESH_SEED: given } = process.env;
  const seed = given === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(given);
  process.stderr.write(`nemesis: MESH_SEED=${seed}\n`);
  return seed;
};

/** A storm over a whole mesh on a real Kanboard, then calm weather; then nothing may be wrong. */
export async function sufferNemesis(nemesis: Nemesis): Promise<void> {
  const random = seededRandom(nemesis.seed);
  const fork = () => seededRandom(Math.floor(random.fraction() * 2 ** 32));
  const home = await temporaryFolder();
  const kanboard = await startKanboard({ database: nemesis.database });
  onTestFinished(() => kanboard.stop());
  const proxy = await startFaultyProxy(kanboard.url);
  onTestFinished(() => proxy.stop());
  const direct = { url: kanboard.url, token: kanboard.token, boardId: newBoardId() };
  const deps = await openDeps(home, direct, 'people');
  const people = stressPeople(deps, home, fork());
  const order = { kanboard: { ...direct, url: proxy.url }, home, leaseMs, timeoutMs };
  const plan = nemesisPlan(fork(), nemesis.stormMs, nemesis.everyMs);
  const [luck, fate] = [fork(), fates(fork())];
  const mesh = await startStressMesh({ kanboard, proxy, order: { ...order, seed: nemesis.seed } });
  proxy.drawFrom(() => (luck.fraction() < badShare ? fate() : { kind: 'passed' }));

  await storm(nemesis, mesh, people, plan.strikes);
  await mesh.calm();
  await settle(nemesis, deps.board, people);
  await mesh.end();
  await proxy.settled();
  await deps.board.close();

  const fresh = await openDeps(home, direct, 'judge');
  const logs = await logsOn(fresh.board, people.known);
  await fresh.board.close();
  expect(await judgeStress(home, direct, logs)).toEqual([]);
}

async function openDeps(home: string, place: BoardPlace, name: string): Promise<QueueDeps> {
  const log = recordingLog();
  const board = await openPlacedBoard(place, { folder: home, name, log, pollMs: 300, timeoutMs });
  board.start();
  return {
    board: witnessed(home, board),
    directory: crashCards(stressAgents, leaseMs),
    artifacts: { put: async () => '0'.repeat(64), get: async () => undefined },
    clock: systemClock,
    random: systemRandom,
    log,
    meshSecret: place.boardId,
  };
}

/** Strikes as planned, and meanwhile people who go on with their work. */
async function storm(
  { stormMs, tasks }: Nemesis,
  mesh: StressMesh,
  people: StressPeople,
  strikes: NemesisPlan['strikes'],
): Promise<void> {
  const beganMs = systemClock.monotonicMs();
  const until = (ms: number) => systemClock.sleep(beganMs + ms - systemClock.monotonicMs());
  const isOver = () => systemClock.monotonicMs() - beganMs >= stormMs;
  const again = async (act: () => Promise<void>, everyMs: number) => {
    while (!isOver()) {
      await act();
      await systemClock.sleep(everyMs);
    }
  };
  const submitAll = async () => {
    for (let n = 0; n < tasks; n++) {
      await until((0.8 * stormMs * n) / tasks);
      await people.submit(n);
    }
  };
  const strikeAll = Promise.all(
    strikes.map(async ({ atMs, ...strike }) => {
      await until(atMs);
      await mesh.strike(strike);
    }),
  );
  const attending = again(() => people.attend(), 300);
  await Promise.all([strikeAll, submitAll(), attending, again(() => people.meddle(), 900)]);
}

/** Until every task was acknowledged and has ended, or the time for it is over: the judge says what had not. */
async function settle(
  { settleMs, tasks }: Nemesis,
  board: TaskBoard,
  people: StressPeople,
): Promise<void> {
  const untilMs = systemClock.monotonicMs() + settleMs;
  const open = new Set<TaskId>();
  do {
    for (let n = 0; n < tasks; n++) await people.submit(n);
    await people.attend();
    open.clear();
    for (const uid of people.known) {
      const phase = (await board.read(uid))?.state.phase;
      if (phase === undefined || !ended.includes(phase)) open.add(uid);
    }
  } while (open.size > 0 && systemClock.monotonicMs() < untilMs);
}

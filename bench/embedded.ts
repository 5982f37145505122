import { randomBytes, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { TaskEvent } from '../fabric/domain/events.ts';
import { QueueId, type ContextId, type TaskId } from '../fabric/domain/ids.ts';
import { openEmbeddedBoard, type EmbeddedBoard } from '../fabric/embedded/embedded-board.ts';
import { systemClock } from '../fabric/telemetry/system-clock.ts';
import {
  claimedBy,
  settledBy,
  submittedEvent,
  verifiedBy,
} from '../test/support/board-builders.ts';
import { inFolder, levels, median, rateOf, syncsPerSecond, type LifeCycles } from './life-cycle.ts';
import { peerRates, type Rates } from './peers.ts';

const queue = QueueId.parse('adolf');
const body = 'Read the access log of last night and say what looks wrong. '.repeat(5);
const goal = { tasksPerSecond: 5_000, timesPeers: 3, submitToClaimedMs: 20, claimRatio: 1.5 };
const now = () => ({ atMs: systemClock.nowMs() });

const openAt = (path: string): Promise<EmbeddedBoard> =>
  openEmbeddedBoard({
    path,
    clock: systemClock,
    log: { debug() {}, info() {}, warn: console.warn, error: console.error },
  });

const pattern = submittedEvent({ body });

/** As a submit use case makes it; the fields that differ, over a pattern. */
function newSubmit(): typeof pattern {
  const taskId = randomBytes(16).toString('hex') as TaskId;
  const contextId = randomUUID() as ContextId;
  const provenance = { ...pattern.task.provenance, root: taskId };
  const task = { ...pattern.task, taskId, contextId, provenance };
  return { ...pattern, ...now(), task };
}

const patterns = {
  claim: claimedBy('adolf', { attempt: 1 }),
  done: settledBy('adolf', 2, { summary: body }),
  verdict: verifiedBy('alvis'),
};

async function put(board: EmbeddedBoard, uid: TaskId, version: number, event: TaskEvent) {
  const answer = await board.append(uid, version, event);
  if (answer !== 'appended') throw new Error(`Version ${version} of the bench got ${answer}.`);
}

/**
 * One queue with one drain loop, as a persona has it: submitters keep `inFlight` tasks open; the loop
 * lists the head, claims each, and every task then goes claimed → done → verified, each step durable.
 */
const lifeCycles =
  (board: EmbeddedBoard): LifeCycles =>
  async (inFlight, isOver) => {
    let ended = 0;
    let open = 0;
    let wake = () => {};
    const taken = new Set<TaskId>();
    const submitOne = async () => {
      open += 1;
      const event = newSubmit();
      await put(board, event.task.taskId, 1, event);
      wake();
    };
    const finish = async (uid: TaskId) => {
      await put(board, uid, 2, { ...patterns.claim, ...now() });
      taken.delete(uid);
      await put(board, uid, 3, { ...patterns.done, ...now() });
      await put(board, uid, 4, { ...patterns.verdict, ...now() });
      ended += 1;
      open -= 1;
      if (isOver()) wake();
      else await submitOne();
    };
    const running: Promise<void>[] = [];
    for (let n = 0; n < inFlight; n++) running.push(submitOne());
    while (open > 0) {
      const woken = new Promise<void>((resolve) => (wake = resolve));
      const head = await board.list(queue, systemClock.nowMs(), inFlight);
      const fresh = head.filter((uid) => !taken.has(uid));
      for (const uid of fresh) {
        taken.add(uid);
        void finish(uid);
      }
      if (fresh.length === 0) await woken;
    }
    await Promise.all(running);
    return ended;
  };

/** Life cycles a second of the embedded board, by tasks in flight. */
export async function embeddedRates(
  folder: string,
  inFlight: readonly number[] = levels,
): Promise<Rates> {
  const rates: Rates = new Map();
  for (const level of inFlight) {
    const board = await openAt(join(folder, `life-${level}.db`));
    rates.set(level, await rateOf(lifeCycles(board), level));
    await board.close();
  }
  return rates;
}

/** From the call of submit to a durable claim by a worker that a change wakes, one at a time. */
async function submitToClaimedMs(folder: string): Promise<number> {
  const board = await openAt(join(folder, 'latency.db'));
  const took: number[] = [];
  for (let n = 0; n < 400; n++) {
    const event = newSubmit();
    const start = performance.now();
    const claimed = new Promise<void>((resolve, reject) => {
      const stop = board.watch((_uid, { phase }) => {
        if (phase !== 'ready') return;
        stop();
        void board
          .list(queue, systemClock.nowMs(), 1)
          .then(([uid]) => put(board, uid!, 2, { ...patterns.claim, ...now() }))
          .then(resolve, reject);
      });
    });
    await put(board, event.task.taskId, 1, event);
    await claimed;
    took.push(performance.now() - start);
  }
  await board.close();
  return median(took);
}

/** Ms from list to durable claim with so many tasks waiting, and of the list alone. */
async function claimCost(folder: string, waiting: number) {
  const path = join(folder, `waiting-${waiting}.db`);
  const filling = await openAt(path);
  for (let n = 0; n < waiting; n++) {
    const event = newSubmit();
    await filling.append(event.task.taskId, 1, event, 'buffered');
    if (n % 500 === 0) await filling.flush();
  }
  await filling.close();
  return { path, lists: [] as number[], claims: [] as number[] };
}

/** Both sizes turn about, so that the machine's moods meet both. */
async function claimCosts(folder: string) {
  const sizes = [await claimCost(folder, 1_000), await claimCost(folder, 100_000)] as const;
  const boards = await Promise.all(sizes.map(({ path }) => openAt(path)));
  for (let n = 0; n < 300; n++) {
    for (const [index, { lists, claims }] of sizes.entries()) {
      const board = boards[index]!;
      const start = performance.now();
      const [uid] = await board.list(queue, systemClock.nowMs(), 1);
      lists.push(performance.now() - start);
      await put(board, uid!, 2, { ...patterns.claim, ...now() });
      claims.push(performance.now() - start);
    }
  }
  for (const board of boards) await board.close();
  return sizes.map(({ lists, claims }) => ({ listMs: median(lists), claimMs: median(claims) }));
}

const rounded = (value: number): string => Math.round(value).toLocaleString('en');

function printRates(name: string, rates: Rates, own?: Rates): void {
  const cells = levels.map((level) => {
    const rate = rates.get(level) ?? Number.NaN;
    const times = own ? ` (1/${((own.get(level) ?? Number.NaN) / rate).toFixed(1)})` : '';
    return `${level}: ${rounded(rate)}/s${times}`;
  });
  console.log(`  ${name.padEnd(26)} ${cells.join('   ')}`);
}

/**
 * The embedded board beside the disk and its peers: life cycles a second by tasks in flight, what a
 * submit waits for its claim, and what a claim costs with many tasks waiting. Medians of five runs.
 */
export async function benchEmbedded(): Promise<void> {
  await inFolder(async (folder) => {
    console.log('Embedded board: submit, claim, done, verified, each durable; by tasks in flight');
    const syncs = syncsPerSecond(folder);
    console.log(`  the disk: ${rounded(syncs)} appends of 4 KiB with fdatasync a second`);
    const own = await embeddedRates(folder);
    printRates('embedded', own);
    const most = own.get(256) ?? Number.NaN;
    console.log(
      `  goal ${goal.tasksPerSecond}/s at 256: ${met(most >= goal.tasksPerSecond)}; ` +
        `${((4 * most) / syncs).toFixed(1)} durable events for each sync the disk can do`,
    );
    for (const peer of await peerRates(folder)) {
      if (peer.rates) {
        printRates(`${peer.name} ${peer.version}`, peer.rates, own);
        const times = most / (peer.rates.get(256) ?? Number.NaN);
        console.log(
          `  goal ${goal.timesPeers}x at 256: ${times.toFixed(1)}x, ${met(times >= goal.timesPeers)}`,
        );
      } else console.log(`  ${peer.name}: left out, ${peer.reason}`);
    }
    const waitMs = await submitToClaimedMs(folder);
    console.log(
      `  submit to durable claim p50: ${waitMs.toFixed(2)} ms (goal ${goal.submitToClaimedMs} ms: ${met(waitMs <= goal.submitToClaimedMs)})`,
    );
    const [few, many] = await claimCosts(folder);
    const ratio = many!.claimMs / few!.claimMs;
    console.log(
      `  a claim with 1,000 waiting ${few!.claimMs.toFixed(2)} ms (its list ${few!.listMs.toFixed(2)}), with 100,000 ` +
        `${many!.claimMs.toFixed(2)} ms (${many!.listMs.toFixed(2)}): ${ratio.toFixed(2)}x (goal ${goal.claimRatio}x: ${met(ratio <= goal.claimRatio)})`,
    );
  });
}

const met = (reached: boolean): string => (reached ? 'reached' : 'MISSED');

if (process.argv[1] === import.meta.filename) await benchEmbedded();

import { service } from '../test/support/services/service.ts';
import { startKanboard, type RunningKanboard } from '../test/support/services/kanboard.ts';
import { embeddedRates } from './embedded.ts';
import { figure, figureLine, ratio, type BenchReport, type Figure } from './figure.ts';
import { openBenchHost, type BenchHost } from './kanboard-host.ts';
import {
  claimMs,
  claimsPerSecond,
  spentByStep,
  submitToStartMs,
  tasksPerSecond,
} from './kanboard-life.ts';
import { loadTasks } from './kanboard-load.ts';
import { inFolder, median } from './life-cycle.ts';
import { peerRates } from './peers.ts';

type Say = (text: string) => void;

const databases = ['sqlite', 'postgres'] as const;
const sizes = [100, 1_000] as const;
const large = 10_000;
/** Of one mesh on Kanboard, and of what is measured beside it: workers of one host. */
const lanes = 8;
const goal = { hookMs: 150, claimRatio: 3 };
/** Requests a step may take (`DESIGN.md` 5.2). */
const mostRequests: Readonly<Record<string, number>> = {
  ...{ submit: 3, 'claim and start': 2, beat: 1, finish: 4, verify: 2 },
};

/** The board on a real Kanboard: what a task takes, how soon it starts, and what many waiting ones cost. */
export async function benchKanboard(
  say: Say,
  { isLarge }: { readonly isLarge: boolean },
): Promise<BenchReport | undefined> {
  const found = service('kanboard');
  if (!found.available) {
    say(`left out, ${found.reason}`);
    return undefined;
  }
  return inFolder(async (folder) => {
    const figures: Figure[] = [];
    // Told as they come, too: the large sizes take their time.
    const add = (...found: readonly Figure[]) => {
      figures.push(...found);
      for (const one of found) say(figureLine(one).trim());
    };
    for (const database of databases) {
      const kanboard = await startKanboard({ database });
      try {
        await findFigures(kanboard, folder, isLarge ? [...sizes, large] : sizes, { say, add });
      } finally {
        await kanboard.stop();
      }
    }
    say('the embedded board and its peers');
    const own = await embeddedRates(folder, [lanes]);
    add(figure(`embedded: whole tasks, ${lanes} at a time`, '/s', [...own.values()]));
    const peers: Record<string, string> = { Kanboard: found.version };
    for (const peer of await peerRates(folder, [lanes])) {
      if (peer.rates === undefined)
        say(`${peer.name}: left out, ${peer.reason ?? 'it did not say'}`);
      else {
        const what = `${peer.name}: jobs sent, fetched, completed, ${lanes} at a time`;
        add(figure(what, '/s', [...peer.rates.values()]));
        peers[peer.name] = peer.version;
      }
    }
    return { bench: 'kanboard', peers, figures };
  });
}

interface Telling {
  readonly say: Say;
  readonly add: (...found: readonly Figure[]) => void;
}

async function findFigures(
  kanboard: RunningKanboard,
  folder: string,
  waiting: readonly number[],
  { say, add }: Telling,
): Promise<void> {
  const { database } = kanboard;
  const open = (boardId: string, name: string) =>
    openBenchHost(kanboard, { folder, name, boardId: `${database}-${boardId}` });
  say(`${database}: an empty queue`);
  const [one, other] = [await open('empty', 'one'), await open('empty', 'other')];
  add(...(await emptyFigures(one, other, database)));
  await Promise.all([one.close(), other.close()]);
  const claims: number[] = [];
  for (const size of waiting) {
    say(`${database}: loading ${size} waiting tasks`);
    const loader = await open(`with-${size}`, 'loader');
    await loadTasks(loader, size);
    await loader.close();
    say(`${database}: with ${size} waiting tasks`);
    const host = await open(`with-${size}`, 'host');
    add(...(await waitingFigures(host, database, size, claims)));
    await host.close();
  }
  const [few = Number.NaN] = claims;
  for (const [at, size] of waiting.entries()) {
    if (at === 0) continue;
    const isGoal = size === large ? { atMost: goal.claimRatio } : undefined;
    const what = `${database}: a claim with ${size} waiting, to one with ${waiting[0] ?? 0}`;
    add(ratio(what, (claims[at] ?? Number.NaN) / few, isGoal));
  }
}

async function emptyFigures(one: BenchHost, other: BenchHost, database: string): Promise<Figure[]> {
  // Each host reads what projects there are, and makes the queue's, once in its life.
  await spentByStep(one);
  const figures: Figure[] = [];
  for (const [step, { requests, calls }] of Object.entries(await spentByStep(one))) {
    const most = mostRequests[step];
    const what = `${database}: ${step}, requests (${calls} calls)`;
    figures.push(figure(what, '', [requests], most === undefined ? undefined : { atMost: most }));
  }
  const whole: number[] = [];
  for (let run = 0; run < 3; run++) whole.push(await tasksPerSecond(one, lanes, 3 * lanes));
  figures.push(figure(`${database}: whole tasks, ${lanes} at a time`, '/s', whole));
  const hook = await submitToStartMs(one, other, { by: 'hook', times: 9 });
  const isGoal = database === 'sqlite' ? { atMost: goal.hookMs } : undefined;
  figures.push(figure(`${database}: submit to started, by the webhook’s hint`, 'ms', hook, isGoal));
  const poll = await submitToStartMs(one, other, { by: 'poll', times: 3 });
  figures.push(figure(`${database}: submit to started, by the poll alone`, 'ms', poll));
  return figures;
}

async function waitingFigures(
  host: BenchHost,
  database: string,
  size: number,
  claims: number[],
): Promise<Figure[]> {
  const { poll } = host.board.parts;
  const name = `${database}, ${size} waiting`;
  const startedMs = performance.now();
  const first = await host.spentOn(() => poll.ready());
  const firstMs = performance.now() - startedMs;
  const took = await claimMs(host, 9);
  claims.push(median(took));
  const figures = [
    figure(`${name}: first look (${first.requests} requests, ${first.calls} calls)`, 'ms', [
      firstMs,
    ]),
    figure(`${name}: claim and start`, 'ms', took),
  ];
  for (const workers of [1, 8, 32]) {
    const rate = await claimsPerSecond(host, workers, workers === 1 ? 8 : 24);
    figures.push(figure(`${name}: claims with their starts, ${workers} workers`, '/s', [rate]));
  }
  figures.push(...(await lookFigures(host, name)));
  return figures;
}

/** What a look costs that finds next to nothing new. */
async function lookFigures({ board, spentOn }: BenchHost, name: string): Promise<Figure[]> {
  const { poll } = board.parts;
  let looked = (): void => undefined;
  const off = poll.onRows(() => {
    looked();
    return Promise.resolve();
  });
  const look = () => new Promise<void>((resolve) => (looked = resolve));
  const begun = look();
  board.start();
  await begun;
  const took: number[] = [];
  let requests = 0;
  for (let n = 0; n < 5; n++) {
    const startedMs = performance.now();
    const spent = await spentOn(async () => {
      const over = look();
      poll.wake();
      await over;
    });
    requests = spent.requests;
    took.push(performance.now() - startedMs);
  }
  off();
  return [figure(`${name}: a later look (${requests} requests)`, 'ms', took)];
}

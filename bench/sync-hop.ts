import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { echoId, makeBenchHome, startBenchMesh } from './bench-mesh.ts';
import { startChildServer, type ChildServer } from './child-server.ts';
import { figure, ratio, type BenchReport, type Figure, type Goal } from './figure.ts';
import { firstEventMs } from './first-event.ts';
import { inFolder, median } from './life-cycle.ts';
import { load, type LoadTarget } from './load.ts';

const connections = [1, 16, 64] as const;
const runs = 5;
const runMs = 2_000;
/** Past these V8 has compiled what is hot; on a busy machine a time alone would not tell. */
const warmUpRequests = 5_000;
const longestWarmUpMs = 40_000;
const goal = { p50Ms: 1, p99Ms: 5, timesExpress: 2 };
/** A file system without a disk: there a group commit costs no wait, and what is left is our own work. */
const diskless = '/dev/shm';

interface Subject {
  readonly name: string;
  readonly server: ChildServer;
  readonly target: LoadTarget;
  readonly levels: readonly number[];
}

interface Sample {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly cpuMs: number;
}

/**
 * What a waiting A2A call costs through our front with authentication on, beside the SDK's own Express
 * server with its memory store. Each server is a process of its own; all take turns in each round.
 */
export async function benchSyncHop(say: (text: string) => void): Promise<BenchReport> {
  return inFolder(async (folder) => {
    const open = await openSubjects(folder);
    try {
      const samples = await measured(open.subjects, say);
      say('first event of a stream');
      const streams = await firstEvents(open.subjects);
      return { bench: 'sync-hop', peers: peers(), figures: [...figuresOf(samples), ...streams] };
    } finally {
      await open.close();
    }
  });
}

const express = (...args: string[]) =>
  startChildServer({
    args: ['--import', 'tsx', join(import.meta.dirname, 'sdk-express-server.ts'), ...args],
    environment: { NODE_PATH: join(import.meta.dirname, 'node_modules') },
  });

async function openSubjects(folder: string) {
  const token = 'a-token-of-the-bench';
  const [bare, bearer] = [await express('none'), await express('bearer', token)];
  const own = await startBenchMesh(await makeBenchHome(folder));
  const urlOf = ({ ready }: ChildServer) => (ready as { url: string }).url;
  const subjects: Subject[] = [
    { name: names.bare, server: bare, target: { url: urlOf(bare) }, levels: connections },
    {
      name: names.bearer,
      server: bearer,
      target: { url: urlOf(bearer), token },
      levels: connections,
    },
    { name: names.mesh, ...meshSubject(own), levels: connections },
  ];
  const memory = existsSync(diskless) ? await mkdtemp(join(diskless, 'mesh-bench-')) : undefined;
  if (memory !== undefined) {
    const quick = await startBenchMesh(await makeBenchHome(memory));
    subjects.push({ name: names.diskless, ...meshSubject(quick), levels: [1] });
  }
  return {
    subjects,
    async close() {
      await Promise.all(subjects.map(({ server }) => server.stop()));
      if (memory !== undefined) await rm(memory, { recursive: true, force: true });
    },
  };
}

const names = {
  bare: 'SDK Express, no auth',
  bearer: 'SDK Express, bearer',
  mesh: 'mesh, API token',
  diskless: 'mesh, API token, no disk',
};

const meshSubject = ({ server, token, urlOf }: Awaited<ReturnType<typeof startBenchMesh>>) => ({
  server,
  target: { url: urlOf(echoId), token },
});

type Samples = Map<string, Sample[]>;
const keyOf = (name: string, level: number) => `${name}, ${level} connections`;

async function measured(
  subjects: readonly Subject[],
  say: (text: string) => void,
): Promise<Samples> {
  const samples: Samples = new Map();
  for (const { name, target } of subjects) {
    say(`warming up: ${name}`);
    await warmUp(target);
  }
  for (let run = 1; run <= runs; run++) {
    say(`round ${run} of ${runs}`);
    for (const { name, server, target, levels } of subjects) {
      for (const level of levels) {
        const before = await server.usage();
        const result = await load(target, level, runMs);
        const cpuMs = ((await server.usage()).cpuMs - before.cpuMs) / result.requests;
        const key = keyOf(name, level);
        samples.set(key, [...(samples.get(key) ?? []), { ...result, cpuMs }]);
      }
    }
  }
  return samples;
}

async function warmUp(target: LoadTarget): Promise<void> {
  let sent = 0;
  const startMs = performance.now();
  while (sent < warmUpRequests && performance.now() - startMs < longestWarmUpMs) {
    sent += (await load(target, 16, runMs)).requests;
  }
}

function figuresOf(samples: Samples): Figure[] {
  const figures: Figure[] = [];
  for (const [key, all] of samples) {
    const held = key.startsWith(names.diskless);
    const of = (field: keyof Sample) => all.map((sample) => sample[field]);
    const bound = (atMost: number): Goal | undefined => (held ? { atMost } : undefined);
    figures.push(
      figure(`${key}: requests`, 'req/s', of('perSecond')),
      figure(`${key}: p50`, 'ms', of('p50Ms'), bound(goal.p50Ms)),
      figure(`${key}: p99`, 'ms', of('p99Ms'), bound(goal.p99Ms)),
      figure(`${key}: CPU a request`, 'ms', of('cpuMs')),
    );
  }
  const of = (name: string, level: number, field: keyof Sample) =>
    median((samples.get(keyOf(name, level)) ?? []).map((sample) => sample[field]));
  for (const level of connections) {
    const rate = (name: string) => of(name, level, 'perSecond');
    const cpu = (name: string) => of(name, level, 'cpuMs');
    figures.push(
      ratio(
        `requests/s, mesh to SDK Express with bearer, ${level} connections`,
        rate(names.mesh) / rate(names.bearer),
        { atLeast: goal.timesExpress },
      ),
      ratio(`CPU a request, the same, ${level} connections`, cpu(names.mesh) / cpu(names.bearer)),
    );
  }
  return figures;
}

async function firstEvents(subjects: readonly Subject[]): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const { name, target } of subjects) {
    const took = await firstEventMs(target, 100);
    figures.push(figure(`${name}: first event of a stream, p50 of 100`, 'ms', [median(took)]));
  }
  return figures;
}

function peers(): Record<string, string> {
  const root = join(import.meta.dirname, '..');
  const versionIn = (folder: string) => {
    const text = readFileSync(join(root, folder, 'package.json'), 'utf8');
    return (JSON.parse(text) as { version: string }).version;
  };
  return {
    '@a2a-js/sdk': versionIn('node_modules/@a2a-js/sdk'),
    express: versionIn('bench/node_modules/express'),
  };
}

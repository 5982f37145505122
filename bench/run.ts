import { availableParallelism, cpus, loadavg, totalmem } from 'node:os';
import { figureLine, type BenchReport } from './figure.ts';
import { inFolder, syncsPerSecond } from './life-cycle.ts';

interface Options {
  /** Also what takes long. */
  readonly isLarge: boolean;
}

type Bench = (say: (text: string) => void, options: Options) => Promise<BenchReport | undefined>;

/** By the name that `npm run bench -- <name>` takes, in the order of a whole run; each loads its own. */
const benches: Readonly<Record<string, Bench>> = {
  decide: async (say) => (await import('./decide.ts')).benchDecide(say),
  start: async (say) => (await import('./start.ts')).benchStart(say),
  'submit-to-start': async (say) => (await import('./submit-to-start.ts')).benchSubmitToStart(say),
  'sync-hop': async (say) => (await import('./sync-hop.ts')).benchSyncHop(say),
  kanboard: async (say, options) => (await import('./kanboard.ts')).benchKanboard(say, options),
  // It prints its own table as it goes.
  embedded: async () => {
    await (await import('./embedded.ts')).benchEmbedded();
    return undefined;
  },
};

interface Machine {
  readonly cores: number;
  readonly cpu: string;
  readonly memoryGiB: number;
  readonly node: string;
  readonly system: string;
  /** Processes that wanted a core in the last minute: above `cores`, all figures are too bad. */
  readonly load: number;
  /** Appends of 4 KiB, each with its own fdatasync. */
  readonly syncsPerSecond: number;
}

async function machineFacts(): Promise<Machine> {
  return {
    cores: availableParallelism(),
    cpu: cpus()[0]?.model ?? 'unknown',
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    node: process.version,
    system: `${process.platform} ${process.arch}`,
    load: Number((loadavg()[0] ?? 0).toFixed(1)),
    syncsPerSecond: await inFolder((folder) => Promise.resolve(Math.round(syncsPerSecond(folder)))),
  };
}

const note = (text: string): void => {
  process.stderr.write(`bench: ${text}\n`);
};

function printReport({ bench, peers, figures }: BenchReport): void {
  const beside = Object.entries(peers).map(([name, version]) => `${name} ${version}`);
  console.log(`\n${bench}${beside.length > 0 ? `, beside ${beside.join(', ')}` : ''}`);
  for (const one of figures) console.log(figureLine(one));
}

/** @returns the exit code: 1 for a name that no bench has */
async function runBenches(args: readonly string[]): Promise<number> {
  const json = args.includes('--json');
  const isLarge = args.includes('--large');
  const names = args.filter((arg) => arg !== '--json' && arg !== '--large');
  const unknown = names.filter((name) => !Object.hasOwn(benches, name));
  if (unknown.length > 0) {
    note(
      `there is no bench ${unknown.join(', ')}. Use: ${Object.keys(benches).join(', ')}, --json, --large`,
    );
    return 1;
  }
  // In JSON mode a bench's own table goes beside the one document.
  if (json) console.log = console.error;
  const machine = await machineFacts();
  if (!json) console.log(machineText(machine));
  const reports: BenchReport[] = [];
  for (const [name, bench] of Object.entries(benches)) {
    if (names.length > 0 && !names.includes(name)) continue;
    const say = (text: string) => {
      note(`${name}: ${text}`);
    };
    const report = await bench(say, { isLarge });
    if (report === undefined) continue;
    reports.push(report);
    if (!json) printReport(report);
  }
  if (json) process.stdout.write(`${JSON.stringify({ machine, reports }, undefined, 2)}\n`);
  return 0;
}

const machineText = ({ cores, cpu, memoryGiB, node, system, load, syncsPerSecond }: Machine) =>
  `${cores} cores (${cpu}), ${memoryGiB} GiB, ${system}, Node ${node}, load ${load}; ` +
  `the disk does ${syncsPerSecond.toLocaleString('en')} fdatasync a second`;

process.exitCode = await runBenches(process.argv.slice(2));

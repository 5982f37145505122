import type { Breach } from '../support/history-checker.ts';
import { runEpisode, type RuleBreaks } from './episode.ts';
import { WindowCounts } from './race-windows.ts';

export interface ManyOptions {
  readonly firstSeed: number;
  /** Goes on until so many claims were written. */
  readonly claims: number;
  readonly tasks: number;
  readonly breaks?: RuleBreaks;
  readonly isCutShort?: boolean;
}

export interface ManyResult {
  readonly claims: number;
  readonly episodes: number;
  readonly windows: WindowCounts;
  /** The first seed whose episode had a breach, with what was wrong. */
  readonly failed: { readonly seed: number; readonly breaches: readonly Breach[] } | undefined;
}

/** Episodes of one seed after the other, until there were enough claims or one went wrong. */
export async function runEpisodes(options: ManyOptions): Promise<ManyResult> {
  // Refusals are everyday events here; their traces would take a tenth of the time.
  const traceLimit = Error.stackTraceLimit;
  Error.stackTraceLimit = 0;
  try {
    return await runThem(options);
  } finally {
    Error.stackTraceLimit = traceLimit;
  }
}

async function runThem(options: ManyOptions): Promise<ManyResult> {
  const { firstSeed, tasks, breaks = {}, isCutShort = false } = options;
  const windows = new WindowCounts();
  let claims = 0;
  let episodes = 0;
  while (claims < options.claims) {
    const seed = firstSeed + episodes;
    const episode = await runEpisode({ seed, tasks, breaks, isCutShort });
    episodes += 1;
    claims += episode.claims;
    windows.add(episode.windows);
    if (episode.breaches.length > 0) {
      return { claims, episodes, windows, failed: { seed, breaches: episode.breaches } };
    }
  }
  return { claims, episodes, windows, failed: undefined };
}

/** What a failed run says: what was wrong, and how to see it again. */
export function failureText({ failed }: ManyResult): string {
  if (failed === undefined) return '';
  const shown = failed.breaches.slice(0, 10);
  const lines = shown.map(({ invariant, uid, what }) => `${invariant} ${uid.slice(0, 8)}: ${what}`);
  return `MESH_SEED=${failed.seed} shows it again:\n${lines.join('\n')}`;
}

/** The seed that `MESH_SEED` asks to see again, if any. */
export function askedSeed(): number | undefined {
  const text = process.env['MESH_SEED'];
  return text === undefined || text === '' ? undefined : Number(text);
}

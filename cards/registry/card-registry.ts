import { reasonOf } from '../../fabric/domain/errors.ts';
import { AgentId } from '../../fabric/domain/ids.ts';
import type { Clock } from '../../fabric/ports/clock.ts';
import type { Directory } from '../../fabric/ports/directory.ts';
import type { Log } from '../../fabric/ports/log.ts';
import type { Card } from '../schema/card.ts';
import { branchSource } from './branch-source.ts';
import { watchBranch } from './branch-watch.ts';
import type { CardSet } from './card-set.ts';
import { type Git, gitIn } from './git.ts';
import { type Refusal, registryAnnouncer, type RegistryListener } from './registry-events.ts';
import { serveCards } from './served-cards.ts';

export interface CardRegistryOptions {
  /** The mesh home: a git repository with `cards/` and `personas/`. */
  readonly home: string;
  /** Where the last good commit is remembered; usually `<home>/state`. */
  readonly stateDir: string;
  readonly branch: string;
  /** Another repository to follow instead of the local branch: a remote's name or URL. */
  readonly remote?: string;
  /** Between two looks at the local branch, ms; 1 s. */
  readonly pollMs?: number;
  /** Between two fetches of the remote, ms; 30 s. */
  readonly fetchMs?: number;
  readonly defaultHuman: () => string;
  /** The process's environment, for git. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly log: Log;
}

/** The Cards that are served: the newest good commit's, in memory, swapped as a whole. */
export interface CardRegistry {
  current(): CardSet;
  card(agentId: string): Card | undefined;
  directory(): Directory;
  /** The newest commit, if it is not the one served, and why. */
  refusal(): Refusal | undefined;
  /** Returns how to stop listening. */
  onChange(listener: RegistryListener): () => void;
  /** Fetches, where there is a remote, and looks now; resolves when what is there was judged. */
  reload(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Opens the registry on the branch's newest commit; where that is bad, on the last good one, loudly.
 * Rejects with CardsRefusedError when neither can be served, with GitError when there is no repository.
 */
export async function openCardRegistry(options: CardRegistryOptions): Promise<CardRegistry> {
  const git = gitIn({ dir: options.home, environment: options.environment });
  const gitDir = await gitDirOf(git);
  const source = branchSource(git, { ...options, gitDir });
  const tryFetch = () =>
    source.fetch().catch((error: unknown) => {
      options.log.warn('cards.fetch-failed', { reason: reasonOf(error) });
    });
  await tryFetch();
  const announcer = registryAnnouncer(options.log);
  const served = await serveCards({ git, source, announce: announcer.announce, options });
  const watch = (pollMs: number, look: () => Promise<void>) =>
    watchBranch({ ...options, gitDir, pollMs, look });
  const watches = [watch(options.pollMs ?? 1_000, () => served.look())];
  if (source.isRemote) watches.push(watch(options.fetchMs ?? 30_000, tryFetch));
  return {
    current: served.current,
    card: (agentId) => served.current().cards.get(agentId),
    directory: () => directoryOf(served.current, options.defaultHuman),
    refusal: served.refusal,
    onChange: (listener) => announcer.listen(listener),
    async reload() {
      await source.fetch();
      await served.look({ again: true });
    },
    async close() {
      await Promise.all(watches.map((one) => one.close()));
    },
  };
}

async function gitDirOf(git: Git): Promise<string> {
  return (await git(['rev-parse', '--absolute-git-dir'])).toString('utf8').trim();
}

/** Reads the served set anew at each question, so that holders of a Directory never see an old one. */
function directoryOf(current: () => CardSet, defaultHuman: () => string): Directory {
  return {
    agent: (agentId) => current().policies.get(agentId),
    agents: () => [...current().policies.values()],
    defaultHuman: () => AgentId.parse(defaultHuman()),
  };
}

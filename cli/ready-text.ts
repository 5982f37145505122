import { counted } from '../fabric/domain/counted.ts';
import type { AgentListing } from './front.ts';
import { columns } from './text/columns.ts';

export interface ReadyFacts {
  readonly url: string;
  readonly home: string;
  /** What people open to see the tasks; undefined where the home has them to itself. */
  readonly board?: string | undefined;
  /** Where the mesh made the users of that board itself. */
  readonly boardLogin?: { readonly user: string; readonly passwordFile: string } | undefined;
  /** Why nothing is taken from that board. */
  readonly frozen?: string | undefined;
  readonly agents: readonly AgentListing[];
  /** Our own start-up, ms. */
  readonly readyMs: number;
  /** Places of the terminal; undefined where nothing is cut. */
  readonly most?: number | undefined;
}

/** What `mesh up` says when it is ready: every agent, where it is, and whether it can work now. */
export function readyText(facts: ReadyFacts): string {
  const { url, home, agents, readyMs, most } = facts;
  const rows = agents.map(({ agentId, trust, url: address, availability }) => [
    agentId,
    trust,
    availability.a === 1 ? 'available' : `waits: ${availability.reasons.join('; ')}`,
    address,
  ]);
  const table = [['agent', 'trust', 'availability', 'address'], ...rows];
  return [
    columns(table, most),
    '',
    `ready: ${counted(agents.length, 'agent')} at ${url} (home ${home}, ${(readyMs / 1_000).toFixed(1)} s)`,
    ...boardLine(facts),
    'Try: mesh send understudy "hello"    mesh inbox    mesh cards list    (npm run mesh -- <verb> in a checkout)',
  ].join('\n');
}

function boardLine({ board, boardLogin: login, frozen }: ReadyFacts): string[] {
  if (board === undefined) return [];
  const how = login ? ` (log in as ${login.user}, the password is in ${login.passwordFile})` : '';
  return [`board: ${board}/${how}`, ...(frozen === undefined ? [] : [`${frozen}.`])];
}

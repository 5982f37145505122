import type { Command } from 'commander';
import { MeshError } from '../../fabric/domain/errors.ts';
import { closedPhases, phases, type Phase, type TaskState } from '../../fabric/domain/state.ts';
import { ContextId } from '../../fabric/domain/ids.ts';
import { parsedAs } from '../../fabric/domain/parsed-as.ts';
import type { TaskQuery } from '../../fabric/ports/task-board.ts';
import { listAgents, unavailableOf, type ListedAgent } from '../agent-list.ts';
import { listOption } from '../choice-option.ts';
import type { MeshConnection } from '../mesh-connection.ts';
import type { Run, Session } from '../session.ts';
import { parseCount } from '../submission-options.ts';
import { widthOf } from '../terminal.ts';
import { didYouMean } from '../text/did-you-mean.ts';
import { parseSpan } from '../text/points-in-time.ts';
import { taskTable } from '../text/task-table.ts';

const examples = `
Examples:
  mesh tasks                                 open tasks, what changed last first
  mesh tasks --agent adolf --phase ready working
  mesh tasks --all --since 1d --json | jq '.tasks[].taskId'
`;

interface TasksOptions {
  readonly mine?: true;
  readonly agent?: string;
  readonly queue?: string;
  readonly context?: string;
  readonly phase?: Phase[];
  readonly all?: true;
  readonly since?: number;
  readonly limit: number;
  readonly cursor?: string;
}

export function define(command: Command, run: Run): void {
  command
    .option('--mine', 'only tasks that concern you')
    .option('--agent <id>', 'only tasks of this agent')
    .option('--queue <name>', 'only tasks of this queue')
    .option('--context <id>', 'only tasks of this context')
    .addOption(listOption('--phase <phase...>', 'only tasks in these states', phases))
    .option('--all', 'closed ones too')
    .option('--since <span>', 'only what changed within 2h, 3d', parseSpan)
    .option('--limit <n>', 'at most so many', parseCount, 50)
    .option('--cursor <text>', 'go on after a page (its `cursor`)')
    .addHelpText('after', examples)
    .action((options: TasksOptions) =>
      run(async (session) => {
        const mesh = await session.connect();
        const [page, agents] = await Promise.all([
          mesh.board.find(queryOf(session, mesh, options)),
          listAgents(mesh, session.signal).catch(() => []),
        ]);
        const { states, cursor, total } = page;
        if (total === 0) requireKnown(options, agents);
        const unavailable = unavailableOf(agents);
        const rest = total - states.length;
        const more = cursor === undefined ? '' : `\n${rest} more: --cursor ${cursor}`;
        return {
          data: { tasks: states, total, ...(cursor === undefined ? {} : { cursor }) },
          text: `${taskTable(states, { unavailable, nowMs: session.clock.nowMs(), most: widthOf(session.terminal) })}${more}`,
        };
      }),
    );
}

/** Nothing to list is an answer only for a name that means something. */
function requireKnown({ agent, queue }: TasksOptions, agents: readonly ListedAgent[]): void {
  const check = (kind: string, word: string | undefined, words: readonly string[]): void => {
    if (word === undefined || words.length === 0 || words.includes(word)) return;
    throw new MeshError(
      'NOT_FOUND',
      `There is no ${kind} ${word}.${didYouMean(word, words)} See \`mesh cards list\`.`,
      { path: kind },
    );
  };
  check(
    'agent',
    agent,
    agents.map(({ agentId }) => agentId),
  );
  check(
    'queue',
    queue,
    agents.map((one) => one.queue),
  );
}

const openPhases = phases.filter((phase) => !closedPhases.has(phase));
const mostTasks = 500;

function queryOf(session: Session, mesh: MeshConnection, options: TasksOptions): TaskQuery {
  const { mine, agent, queue, context, phase, all, since, limit, cursor } = options;
  const phasesAsked = phase ?? (all ? undefined : openPhases);
  return {
    ...(mine ? { principal: mesh.principal } : {}),
    ...(agent === undefined ? {} : { agentId: agent }),
    ...(queue === undefined ? {} : { queue: queue as TaskState['queue'] }),
    ...(context === undefined ? {} : { contextId: parsedAs(ContextId, context, 'context') }),
    ...(phasesAsked === undefined ? {} : { phases: phasesAsked }),
    ...(since === undefined ? {} : { changedSinceMs: session.clock.nowMs() - since }),
    ...(cursor === undefined ? {} : { cursor }),
    limit: Math.min(limit, mostTasks),
  };
}

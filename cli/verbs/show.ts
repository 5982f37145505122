import type { Command } from 'commander';
import { z } from 'zod';
import type { TaskState } from '../../fabric/domain/state.ts';
import type { TaskId } from '../../fabric/domain/ids.ts';
import type { TaskLog } from '../../fabric/ports/task-board.ts';
import { whyWaiting } from '../../fabric/queue/why.ts';
import { unavailableAgents } from '../agent-list.ts';
import type { MeshConnection } from '../mesh-connection.ts';
import type { Run, Session } from '../session.ts';
import { taskNamed, taskRpc } from '../task-ref.ts';
import { RouteCandidate } from '../text/route-table.ts';
import { taskPage, type TaskFamily } from '../text/task-page.ts';
import { isParked } from '../text/task-table.ts';

const examples = `
Examples:
  mesh show 1a2b3c4d                          the first digits are enough
  mesh show 1a2b3c4d --json | jq .state.outcome
`;

const mostChildren = 100;

export function define(command: Command, run: Run): void {
  command
    .argument('<task>', 'its id, or 6 or more of its first digits')
    .addHelpText('after', examples)
    .action((ref: string) =>
      run(async (session) => {
        const mesh = await session.connect();
        const log = await taskNamed(mesh, ref);
        const [family, { sentence: why }, unavailable] = await Promise.all([
          familyOf(mesh, log),
          whyOf(session, mesh, log.state),
          unavailableAgents(mesh, session.signal),
        ]);
        const nowMs = session.clock.nowMs();
        const parked = isParked(log.state, unavailable, nowMs);
        const { paint } = session.terminal;
        return {
          data: { ...log, why, children: family.children.map(({ taskId }) => taskId) },
          text: taskPage(log, family, { nowMs, paint, why, parked }),
        };
      }),
    );
}

async function familyOf({ board }: MeshConnection, { state }: TaskLog): Promise<TaskFamily> {
  const { parent, root } = state.task.provenance;
  const stateOf = async (uid: TaskId | undefined): Promise<TaskState | undefined> =>
    uid === undefined ? undefined : (await board.read(uid))?.state;
  const [children, parentState, rootState] = await Promise.all([
    board.find({ parent: state.taskId, limit: mostChildren }),
    stateOf(parent),
    stateOf(root === state.taskId || root === parent ? undefined : root),
  ]);
  return {
    children: children.states,
    ...(parentState ? { parent: parentState } : {}),
    ...(rootState ? { root: rootState } : {}),
  };
}

const WhyAnswer = z.object({
  sentence: z.string(),
  /** Whom the router weighs, for a task that it has still to give to somebody. */
  candidates: z.array(RouteCandidate).default([]),
  /** How the holder stands, of a task that somebody holds. */
  hold: z
    .object({ standing: z.enum(['alive', 'lapsed', 'dead']), leaseEndsAtMs: z.number() })
    .optional(),
});
type WhyAnswer = z.infer<typeof WhyAnswer>;

/** The mesh's own sentence, else the one that the log alone gives. */
export async function whyOf(
  session: Session,
  mesh: MeshConnection,
  state: TaskState,
): Promise<WhyAnswer> {
  const params = { taskId: state.taskId };
  const call = { method: 'cardmesh/why', params, signal: session.signal };
  return taskRpc(mesh, state, call, WhyAnswer).catch(() => ({
    sentence: whyWaiting(state, { nowMs: session.clock.nowMs() }),
    candidates: [],
  }));
}

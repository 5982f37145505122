import { MeshError } from '../domain/errors.ts';
import type { TaskId } from '../domain/ids.ts';
import { limits } from '../domain/limits.ts';
import type { Principal } from '../domain/principal.ts';
import type { TaskBoard } from '../ports/task-board.ts';
import type { QueueDeps } from './deps.ts';

const hourMs = 3_600_000;

/** Who waits for whom, by board and principal. */
const lines = new WeakMap<TaskBoard, Map<string, Promise<unknown>>>();

/**
 * Makes a task if its principal's quota has room. Count and append are one step among all submits of this
 * process by that principal: else forty at once would each count the same few. People have no quota, and
 * a task that is there already is no new one.
 * @throws MeshError `QUOTA_EXCEEDED` when an agent made its share of tasks within the hour
 */
export async function withinCreationQuota<T>(
  deps: QueueDeps,
  principal: Principal,
  uid: TaskId,
  make: () => Promise<T>,
): Promise<T> {
  if (principal.role === 'human') return make();
  const line = lines.get(deps.board) ?? new Map<string, Promise<unknown>>();
  lines.set(deps.board, line);
  const before = line.get(principal.id) ?? Promise.resolve();
  const turn = before.then(async () => {
    if ((await deps.board.known(uid)) === undefined) await checkCreationQuota(deps, principal);
    return make();
  });
  const over = turn.catch(() => undefined);
  line.set(principal.id, over);
  try {
    return await turn;
  } finally {
    if (line.get(principal.id) === over) line.delete(principal.id);
  }
}

/** @throws MeshError `QUOTA_EXCEEDED` when an agent made its share of tasks within the hour */
export async function checkCreationQuota(deps: QueueDeps, principal: Principal): Promise<void> {
  if (principal.role === 'human') return;
  const most = deps.directory.agent(principal.id)?.createdPerHour ?? limits.createdPerHour;
  const sinceMs = deps.clock.nowMs() - hourMs;
  const recent = await deps.board.find({
    submittedBy: { id: principal.id, sinceMs },
    limit: Math.min(500, Math.max(1, most)),
  });
  if (recent.total < most) return;
  const oldestAtMs = Math.min(...recent.states.map((state) => state.submittedAtMs));
  throw new MeshError(
    'QUOTA_EXCEEDED',
    `${principal.id} has submitted ${recent.total} tasks within the hour and may ${most}. Try again later.`,
    { agentId: principal.id, retryAtMs: oldestAtMs + hourMs },
  );
}

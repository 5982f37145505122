import type { TaskId } from '../../../fabric/domain/ids.ts';
import { kanboardRpc } from '../../../fabric/kanboard/kanboard-rpc.ts';
import { call, resultOf, TagRows } from '../../../fabric/kanboard/kanboard-rows.ts';
import { namespaceOf, readNamespace } from '../../../fabric/kanboard/slot-namespace.ts';
import { systemClock } from '../../../fabric/telemetry/system-clock.ts';
import type { BoardPlace } from './board-place.ts';

/** The versions that a log has on Kanboard itself, in order: reading a log ends at its first gap. */
export async function rawVersions({ url, token }: BoardPlace, uid: TaskId): Promise<number[]> {
  const clock = systemClock;
  const rpc = kanboardRpc({ endpoint: url, token: () => token, fetch: globalThis.fetch, clock });
  const [rows] = await rpc.batch([call('getTagsByProject', { project_id: namespaceOf(uid) })]);
  const { slots } = readNamespace(uid, resultOf(rows, TagRows, 'the slots of a task'));
  return [...slots.keys()].sort((one, other) => one - other);
}

import { randomBytes, randomUUID } from 'node:crypto';
import { recordOf } from '../fabric/kanboard/event-record.ts';
import { callsPerRequest, type Call } from '../fabric/kanboard/kanboard-rpc.ts';
import { call } from '../fabric/kanboard/kanboard-rows.ts';
import { namespaceOf, recordRows, slotName } from '../fabric/kanboard/slot-namespace.ts';
import { slotOfRecord } from '../fabric/kanboard/slot-content.ts';
import { columnOf } from '../fabric/kanboard/board-projects.ts';
import { referenceOf } from '../fabric/kanboard/board-tasks.ts';
import { QueueId, type TaskId } from '../fabric/domain/ids.ts';
import { submittedEvent } from '../test/support/board-builders.ts';
import { agentId, type BenchHost } from './kanboard-host.ts';

/** Far more than a mesh sends at once: nobody else waits here. */
const callsAtOnce = 10 * callsPerRequest;
const queue = QueueId.parse(agentId);

/** Puts `count` waiting tasks on the board as a submit leaves them, without asking what is there. */
export async function loadTasks({ board, rpc }: BenchHost, count: number): Promise<void> {
  const project = await board.parts.projects.of(queue);
  const column_id = columnOf(project, 'ready');
  const calls: Call[] = [];
  const send = async () => {
    const replies = await rpc.batch(calls.splice(0));
    const failed = replies.find((reply) => !reply.ok || reply.result === false);
    if (failed) throw new Error(`Kanboard refused a task of the bench: ${JSON.stringify(failed)}`);
  };
  for (let n = 0; n < count; n++) {
    const taskId = randomBytes(16).toString('hex') as TaskId;
    const title = `Waiting ${n}`;
    calls.push(...logCalls(taskId, title));
    const [project_id, reference] = [project.projectId, referenceOf(taskId)];
    calls.push(call('createTask', { project_id, column_id, reference, title, priority: 2 }));
    if (calls.length >= callsAtOnce) await send();
  }
  if (calls.length > 0) await send();
}

function logCalls(taskId: TaskId, title: string): Call[] {
  const definition = { effects: 'workspace', contextId: randomUUID() as never } as const;
  const event = submittedEvent({ taskId, agentId, title, body: 'Do it.', definition });
  const project_id = namespaceOf(taskId);
  const { token, text } = recordOf(event);
  const rows = recordRows(taskId, token, text).map((tag) => ({ tag, color_id: 'r' }));
  const slot = { tag: slotName(taskId, 1), color_id: slotOfRecord(token) };
  return [...rows, slot].map((row) => call('createTag', { project_id, ...row }));
}

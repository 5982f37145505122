import { z } from 'zod';
import { BoardUnavailableError } from '../domain/errors.ts';
import type { TaskState } from '../domain/state.ts';
import type { EventRecord } from './event-record.ts';
import type { KanboardRpc } from './kanboard-rpc.ts';
import { call, MadeId, resultOf, TaskFiles } from './kanboard-rows.ts';

/** Records too large for rows: files of the board task. */
export interface RecordFiles {
  /** @throws BoardUnavailableError when it is not certain to be there */
  store(task: TaskState, record: EventRecord): Promise<void>;
  load(task: TaskState, token: string): Promise<string | undefined>;
}

export interface RecordFilesOptions {
  readonly rpc: KanboardRpc;
  /** The board task that shows `task`, made where it is missing. */
  readonly boardTaskOf: (
    task: TaskState,
  ) => Promise<{ readonly boardTaskId: number; readonly projectId: number }>;
}

const fileName = (token: string): string => `cardmesh-${token}.bin`;

export function recordFiles({ rpc, boardTaskOf }: RecordFilesOptions): RecordFiles {
  return {
    async store(task, { token, text }) {
      const { boardTaskId: task_id, projectId: project_id } = await boardTaskOf(task);
      const blob = Buffer.from(text).toString('base64');
      const filename = fileName(token);
      const [made] = await rpc.batch([
        call('createTaskFile', { project_id, task_id, filename, blob }),
      ]);
      if (resultOf(made, MadeId, 'a file of the task') === undefined) {
        throw new BoardUnavailableError(
          `Kanboard refused to store a result of task ${task.taskId} as a file. Look at its disk.`,
        );
      }
    },
    async load(task, token) {
      const { boardTaskId: task_id } = await boardTaskOf(task);
      const [listed] = await rpc.batch([call('getAllTaskFiles', { task_id })]);
      const files = resultOf(listed, TaskFiles, 'the files of a task');
      // The same name twice is two files; a repeat after a lost answer makes the same content again.
      const named = files.find(({ name }) => name === fileName(token));
      if (named === undefined) return undefined;
      const [loaded] = await rpc.batch([call('downloadTaskFile', { file_id: named.id })]);
      const blob = resultOf(loaded, z.string(), 'a file of a task');
      return Buffer.from(blob, 'base64').toString();
    },
  };
}

import { hash } from 'node:crypto';
import { z } from 'zod';
import { TaskId } from '../domain/ids.ts';
import type { Clock } from '../ports/clock.ts';
import type { KanboardRpc } from '../kanboard/kanboard-rpc.ts';
import { BoardTask, call, MadeId, resultOf, TagRows } from '../kanboard/kanboard-rows.ts';
import { namespaceOf } from '../kanboard/slot-namespace.ts';

const whole = z.coerce.number().int();

/** Comments of a board task, eldest first; by user 0 are those of the mesh. */
export const ThreadComments = z.array(
  z
    .looseObject({ id: whole, user_id: whole, comment: z.string(), date_creation: whole })
    .transform((row) => ({
      commentId: row.id,
      userId: row.user_id,
      text: row.comment,
      atMs: row.date_creation * 1_000,
    })),
);
export type ThreadComment = z.infer<typeof ThreadComments>[number];

/** A board task as it is now, and what was said on it; undefined: a person took it away. */
export async function threadOf(
  rpc: KanboardRpc,
  boardTaskId: number,
): Promise<{ readonly row: BoardTask; readonly comments: readonly ThreadComment[] } | undefined> {
  const [task, said] = await rpc.batch([
    call('getTask', { task_id: boardTaskId }),
    call('getAllComments', { task_id: boardTaskId }),
  ]);
  const row = resultOf(task, BoardTask.nullable(), 'a board task');
  if (row === null) return undefined;
  return { row, comments: resultOf(said, ThreadComments, 'the comments of a task') };
}

/** An end of a comment that Markdown shows as nothing; `key` says what the comment answers. */
const markOf = (key: string): string => `[//]: # (mesh ${key})`;

/** The mesh has said it here: only its own comments count, whatever a person writes. */
export const isSaid = (comments: readonly ThreadComment[], key: string): boolean =>
  comments.some(({ userId, text }) => userId === 0 && text.trimEnd().endsWith(markOf(key)));

/** After this whoever was to say it is taken for dead. */
const graceMs = 30_000;

export interface SaidOnceOptions {
  readonly rpc: KanboardRpc;
  readonly clock: Clock;
  readonly boardId: string;
  /** Of this process. */
  readonly token: string;
}

/**
 * Says something to people in one comment, once, though every process of the mesh would: `createTag` lets
 * one of them in (`reference/kanboard.md` 1.1). Who dies before it has said it is followed by whoever comes
 * to the same act half a minute later.
 */
export class SaidOnce {
  readonly #options: SaidOnceOptions;

  constructor(options: SaidOnceOptions) {
    this.#options = options;
  }

  async say(
    boardTaskId: number,
    { key, atMs }: { readonly key: string; readonly atMs: number },
    text: string,
  ): Promise<void> {
    const { rpc, clock, token } = this.#options;
    const { project_id, tag } = this.#turnOf(boardTaskId, key);
    const [, holders, said] = await rpc.batch([
      call('createTag', { project_id, tag, color_id: token }),
      call('getTagsByProject', { project_id }),
      call('getAllComments', { task_id: boardTaskId }),
    ]);
    if (isSaid(resultOf(said, ThreadComments, 'the comments of a task'), key)) return;
    const rows = resultOf(holders, TagRows, 'who says it');
    const isOurs = rows.find(({ name }) => name === tag)?.color === token;
    if (!isOurs && clock.nowMs() - atMs < graceMs) return;
    const content = `${text}\n\n${markOf(key)}`;
    const saying = call('createComment', { task_id: boardTaskId, user_id: 0, content });
    const [made] = await rpc.batch([saying]);
    resultOf(made, MadeId, 'a comment');
  }

  /** A tag that no page shows and no log has. */
  #turnOf(boardTaskId: number, key: string) {
    const name = `${this.#options.boardId}|${boardTaskId}|${key}`;
    const tag = hash('sha256', name, 'hex').slice(0, 32);
    return { project_id: namespaceOf(TaskId.parse(tag)), tag: `said-${tag}` };
  }
}

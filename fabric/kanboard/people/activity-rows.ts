import { z } from 'zod';
import { roleOf, type BoardProject } from '../board-projects.ts';
import { BoardTask } from '../kanboard-rows.ts';
import type { PersonAct } from './person-act.ts';

const whole = z.coerce.number().int();
/** Names of what changed; `[]` where PHP has nothing to name. */
const Changes = z
  .union([z.record(z.string(), z.unknown()), z.array(z.unknown()).transform(() => ({}))])
  .optional();

/** One row of a project's activity, as far as acts are made of it; of comments, projects and files there are others. */
const ActivityRow = z.looseObject({
  id: whole,
  date_creation: whole,
  event_name: z.string(),
  creator_id: whole,
  author_username: z.string(),
  project_id: whole,
  task: BoardTask,
  changes: Changes,
  src_column_id: whole.optional(),
  dst_column_id: whole.optional(),
  comment: z.looseObject({ id: whole, user_id: whole, comment: z.string() }).optional(),
});
type ActivityRow = z.infer<typeof ActivityRow>;

/** What is looked at of every row before it is known to be an act. */
export const ActivityHead = z.looseObject({ id: whole, date_creation: whole, project_id: whole });
export type ActivityHead = z.infer<typeof ActivityHead>;

/**
 * A name of an activity that no other bears. Its number alone is none: SQLite gives the number of the newest
 * row again after a person took its task away (`reference/kanboard.md` 1.7).
 */
export const activityKeyOf = (head: ActivityHead): string => `${head.id}@${head.date_creation}`;

/** The act that a row tells of; undefined for what is no act on a task, or of another Kanboard's shape. */
export function actOf(project: BoardProject, head: ActivityHead): PersonAct | undefined {
  const parsed = ActivityRow.safeParse(head);
  if (!parsed.success) return undefined;
  const row = parsed.data;
  const did = didOf(project, row);
  if (did === undefined) return undefined;
  return {
    activityId: row.id,
    atMs: row.date_creation * 1_000,
    userId: row.creator_id,
    username: row.author_username,
    project,
    row: row.task,
    did,
  };
}

function didOf(project: BoardProject, row: ActivityRow): PersonAct['did'] | undefined {
  switch (row.event_name) {
    case 'task.create':
      return { kind: 'created' };
    case 'task.close':
      return { kind: 'closed' };
    case 'task.open':
      return { kind: 'reopened' };
    case 'task.move.project':
      return { kind: 'moved', from: undefined, to: roleOf(project, row.task.columnId) };
    // Across a swimlane and into another column at once: Kanboard tells of the swimlane alone.
    case 'task.move.swimlane':
    case 'task.move.column':
      return movedOf(project, row);
    case 'task.update':
    case 'task.assignee_change':
      return { kind: 'edited', fields: Object.keys(row.changes ?? {}) };
    case 'comment.create':
      return commentedOf(row);
    default:
      return undefined;
  }
}

function movedOf(project: BoardProject, row: ActivityRow): PersonAct['did'] | undefined {
  const { src_column_id: from = 0, dst_column_id: to = row.task.columnId } = row;
  if (from === to) return undefined;
  return { kind: 'moved', from: roleOf(project, from), to: roleOf(project, to) };
}

/** Their own words only: who comments in another's name says nothing. */
function commentedOf({ comment, creator_id }: ActivityRow): PersonAct['did'] | undefined {
  if (comment?.user_id !== creator_id) return undefined;
  return { kind: 'commented', commentId: comment.id, text: comment.comment };
}

import { z } from 'zod';
import { BoardUnavailableError } from '../domain/errors.ts';
import type { Call, Reply } from './kanboard-rpc.ts';

/** Whole numbers come as numbers or digits, by database (`reference/kanboard.md` 3). */
const whole = z.coerce.number().int();
const text = z
  .string()
  .nullish()
  .transform((value) => value ?? '');
/** 1 and 0 on SQLite, true and false on PostgreSQL. */
const flag = z.union([z.boolean(), whole.transform((value) => value !== 0)]);

/** A board task as `getTask`, `searchTasks` and an activity give it; instants in ms. */
export const BoardTask = z
  .looseObject({
    id: whole,
    project_id: whole,
    column_id: whole,
    swimlane_id: whole,
    owner_id: whole,
    creator_id: whole,
    title: text,
    description: text,
    reference: text,
    score: z.coerce.number().int().nullish(),
    priority: z.coerce.number().int().nullish(),
    date_due: z.coerce.number().nullish(),
    date_modification: whole,
    date_moved: z.coerce.number().nullish(),
    position: whole,
    is_active: flag,
  })
  .transform((row) => ({
    boardTaskId: row.id,
    projectId: row.project_id,
    columnId: row.column_id,
    swimlaneId: row.swimlane_id,
    ownerId: row.owner_id,
    creatorId: row.creator_id,
    title: row.title,
    description: row.description,
    reference: row.reference,
    score: row.score ?? 0,
    priority: row.priority ?? 0,
    /** 0: none. */
    dueAtMs: (row.date_due ?? 0) * 1_000,
    modifiedAtMs: row.date_modification * 1_000,
    /** When a person last moved it; our own moves leave it as it is (`reference/kanboard.md` 1.5). */
    movedAtMs: (row.date_moved ?? 0) * 1_000,
    position: row.position,
    isOpen: row.is_active,
  }));
export type BoardTask = z.infer<typeof BoardTask>;

export const TagRows = z.array(
  z
    .looseObject({ name: z.string(), color_id: z.string().nullish() })
    .transform(({ name, color_id: color }) => ({ name, color: color ?? '' })),
);

export const Columns = z.array(z.looseObject({ id: whole, title: z.string(), position: whole }));

/** `{id: name}`, and `[]` where PHP has nothing to name. */
export const TaskTags = z.union([
  z.record(z.string(), z.string()).transform((tags) => Object.values(tags)),
  z.array(z.string()),
]);

/** Text by name, and `[]` where PHP has nothing to name. */
export const Metadata = z.union([
  z.record(z.string(), z.coerce.string()),
  z.array(z.unknown()).transform((): Record<string, string> => ({})),
]);

export const Comments = z.array(
  z
    .looseObject({ id: whole, user_id: whole, comment: text })
    .transform(({ id, user_id: userId, comment }) => ({ commentId: id, userId, text: comment })),
);

export const UserRows = z.array(
  z
    .looseObject({ id: whole, username: text, role: text, is_active: flag })
    .transform(({ id, username: name, role, is_active: isActive }) => ({
      ...{ userId: id, name, role, isActive },
    })),
);

export const TaskFiles = z.array(z.looseObject({ id: whole, name: z.string() }));

/** The id of what was made; `false` and 0 say that it was not. */
export const MadeId = z.union([z.literal(false), whole]).transform((id) => id || undefined);

export const call = (method: string, params: Call['params'] = {}): Call => ({ method, params });

/**
 * What a call gave, in its shape.
 * @throws BoardUnavailableError for a failed call or another shape: then nothing may be decided on it
 */
export function resultOf<T>(reply: Reply | undefined, schema: z.ZodType<T>, what: string): T {
  if (reply === undefined || !reply.ok) {
    const why = reply === undefined ? 'no answer' : reply.message;
    throw new BoardUnavailableError(`Kanboard could not do ${what}: ${why}.`);
  }
  const parsed = schema.safeParse(reply.result);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw new BoardUnavailableError(
    `Kanboard answered ${what} in a shape that this release does not know` +
      `${issue ? ` (${issue.path.join('.')}: ${issue.message})` : ''}. Tested with Kanboard 1.2.51.`,
  );
}

/** `true`; a `false` says that nothing was done. */
export const Done = z.literal(true);

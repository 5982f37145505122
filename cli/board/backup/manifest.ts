import { z } from 'zod';
import { InvalidValueError } from '../../../fabric/domain/errors.ts';

const layout = 1;

/** What a backup says of itself: `manifest.json`, its first entry. */
export const BackupManifest = z.strictObject({
  version: z.literal(layout),
  createdAt: z.iso.datetime(),
  board: z.strictObject({
    /** `own`: the mesh's own Kanboard, whose data are in the backup. `foreign`: they are not. */
    kind: z.enum(['own', 'foreign']),
    url: z.string().min(1),
    boardId: z.string().min(1),
    /** Absent where it did not answer. */
    kanboardVersion: z.string().optional(),
  }),
  /** The home's commit: mesh.yaml, Cards and personas are there and not in the backup. */
  git: z.strictObject({ head: z.string(), isClean: z.boolean() }).optional(),
  /** What the home had left on the board, as it knew just before the board was copied. */
  stamp: z
    .strictObject({ home: z.string().regex(/^[0-9a-f]{16}$/), stamp: z.int().nonnegative() })
    .optional(),
  hasKeys: z.boolean(),
  /** Files and folders, as paths below the home. */
  parts: z.array(z.string()),
});
export type BackupManifest = z.infer<typeof BackupManifest>;

/** @throws InvalidValueError for what this release did not write or can't read */
export function parseManifest(text: string, file: string): BackupManifest {
  const json = jsonOf(text);
  const { version } = z.object({ version: z.int() }).safeParse(json).data ?? {};
  if (version !== undefined && version > layout) {
    throw new InvalidValueError(
      `${file} has layout ${version}; this release reads layout ${layout}. Restore it with the newer one that wrote it.`,
      'file',
    );
  }
  const parsed = BackupManifest.safeParse(json);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const where = issue && issue.path.length > 0 ? `${issue.path.join('.')}: ` : '';
  throw new InvalidValueError(
    `The manifest of ${file} is not one of a mesh backup (${where}${issue?.message ?? 'no JSON'}).`,
    'file',
  );
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** @throws InvalidValueError where the backup is of another board than the one it is to become */
export function requireSameBoard(
  { board }: BackupManifest,
  wanted: Pick<BackupManifest['board'], 'kind' | 'boardId'>,
  file: string,
): void {
  if (board.kind !== wanted.kind) {
    const how =
      board.kind === 'own'
        ? "is of a mesh's own Kanboard: name that with --board kanboard"
        : `is of the Kanboard at ${board.url}: name that with --board kanboard:<url>`;
    throw new InvalidValueError(`${file} ${how}.`, 'file');
  }
  if (board.boardId === wanted.boardId) return;
  throw new InvalidValueError(
    `${file} is of the board "${board.boardId}", and this home works on "${wanted.boardId}" ` +
      '(board.kanboard.boardId in mesh.yaml). Restore it in the home it came from.',
    'file',
  );
}

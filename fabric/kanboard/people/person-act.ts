import type { BoardProject, ColumnRole } from '../board-projects.ts';
import type { BoardTask } from '../kanboard-rows.ts';

/**
 * Something a person did to a board task, as the project's activity tells it: only what was done with a
 * person's own credential is there, never what the application token did (`reference/kanboard.md` 3).
 */
export interface PersonAct {
  /** Kanboard's own number of it; by it an act is taken once, whoever reads it and however often. */
  readonly activityId: number;
  readonly atMs: number;
  readonly userId: number;
  readonly username: string;
  readonly project: BoardProject;
  /** The board task as it was right after the act. */
  readonly row: BoardTask;
  readonly did:
    | { readonly kind: 'created' | 'closed' | 'reopened' }
    | {
        readonly kind: 'moved';
        readonly from: ColumnRole | undefined;
        readonly to: ColumnRole | undefined;
      }
    | { readonly kind: 'commented'; readonly commentId: number; readonly text: string }
    /** Names of the fields that changed; their values are in `row`. */
    | { readonly kind: 'edited'; readonly fields: readonly string[] };
}

/** Takes an act in; called again for the same act after a fault, so it looks before it repeats. */
export type OnAct = (act: PersonAct) => Promise<void>;

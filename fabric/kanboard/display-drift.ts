import type { TaskId } from '../domain/ids.ts';
import type { TaskState } from '../domain/state.ts';
import type { Clock } from '../ports/clock.ts';
import type { TaskBoard } from '../ports/task-board.ts';
import type { BoardDisplay } from './board-display.ts';
import { columnOf, type BoardProjects } from './board-projects.ts';
import type { BoardTasks } from './board-tasks.ts';
import { boardViewOf } from './board-view.ts';
import type { LogMirror } from './log-mirror.ts';

export interface DisplayDriftOptions {
  readonly clock: Clock;
  readonly mirror: TaskBoard;
  readonly logs: LogMirror;
  readonly projects: BoardProjects;
  readonly tasks: BoardTasks;
  readonly display: BoardDisplay;
}

/** How long an author has to show what it wrote, before somebody else does. */
const authorsTimeMs = 15_000;

/**
 * Board tasks that do not show their log: whoever wrote it died before, or a person moved one and the mesh
 * did not follow. Looked at again after the author's time, and then shown anew, with the comments that lack.
 */
export class DisplayDrift {
  readonly #options: DisplayDriftOptions;
  readonly #since = new Map<TaskId, number>();
  readonly #unwatch: () => void;

  constructor(options: DisplayDriftOptions) {
    this.#options = options;
    const { mirror, logs, clock } = options;
    this.#unwatch = mirror.watch((uid, state) => {
      if (!logs.isLocal(state)) this.#since.set(uid, clock.monotonicMs());
    });
  }

  /** Has board tasks that are behind for longer than their author's time shown again. Returns how many. */
  async repair(): Promise<number> {
    const { clock, mirror, tasks, display } = this.#options;
    const nowMs = clock.monotonicMs();
    let repaired = 0;
    for (const [uid, sinceMs] of this.#since) {
      if (nowMs - sinceMs < authorsTimeMs) continue;
      this.#since.delete(uid);
      const log = await mirror.read(uid);
      if (log === undefined || !this.#isBehind(log.state)) continue;
      // What this process remembers of it is what may be wrong.
      tasks.forget(uid);
      for (const at of log.events.keys()) display.show(uid, at + 1);
      repaired += 1;
    }
    return repaired;
  }

  /** A board task was seen to change: whether it shows its log is looked at after a while. */
  suspect(uid: TaskId): void {
    if (!this.#since.has(uid)) this.#since.set(uid, this.#options.clock.monotonicMs());
  }

  close(): void {
    this.#unwatch();
  }

  #isBehind(state: TaskState): boolean {
    const { tasks, projects } = this.#options;
    const row = tasks.known(state.taskId);
    if (row === undefined) return true;
    const view = boardViewOf(state);
    if (row.isOpen !== view.isOpen) return true;
    const project = projects.all().find(({ queue }) => queue === state.queue);
    if (project === undefined || view.column === undefined) return false;
    return row.projectId !== project.projectId || row.columnId !== columnOf(project, view.column);
  }
}

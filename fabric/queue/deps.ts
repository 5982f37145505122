import type { ArtifactStore } from '../ports/artifact-store.ts';
import type { Clock } from '../ports/clock.ts';
import type { Directory } from '../ports/directory.ts';
import type { Log } from '../ports/log.ts';
import type { Random } from '../ports/random.ts';
import type { TaskBoard } from '../ports/task-board.ts';

/** What every use case of the queue works with; made once in the composition root. */
export interface QueueDeps {
  readonly board: TaskBoard;
  readonly directory: Directory;
  readonly artifacts: ArtifactStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Same on every host of the mesh: task ids are made with it. */
  readonly meshSecret: string;
  /**
   * Of the one act outside the mesh that a call takes in: its events bear it instead of a random one, so that
   * a log which has it has taken that act in, by whichever process.
   */
  readonly token?: string;
}

/** The part of it that appending to a task's log takes; a command outside the mesh has no more. */
export type LogWriterDeps = Pick<QueueDeps, 'board' | 'clock' | 'random' | 'log' | 'token'>;

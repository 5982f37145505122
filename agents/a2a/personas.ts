import type { RunTask } from '../../fabric/ports/run-task.ts';

/** Which personas this process runs, and how. */
export interface LocalPersonas {
  /** Undefined for an agent that is not run here: its tasks wait on the board for its own worker. */
  runTaskOf(agentId: string): RunTask | undefined;
}

import type { BoardMembers } from '../../fabric/kanboard/board-members.ts';
import type { BoardProbes } from '../../fabric/kanboard/board-probes.ts';
import type { BoardProjects } from '../../fabric/kanboard/board-projects.ts';
import type { Clock } from '../../fabric/ports/clock.ts';
import type { AgentPolicy } from '../../fabric/ports/directory.ts';
import type { Random } from '../../fabric/ports/random.ts';
import type { HomePaths } from '../home.ts';
import type { KanboardAccess } from '../kanboard-access.ts';

/** What the parts of `mesh board setup` work with. */
export interface SetupContext {
  readonly paths: HomePaths;
  readonly access: KanboardAccess;
  readonly policies: readonly AgentPolicy[];
  readonly projects: BoardProjects;
  readonly members: BoardMembers;
  readonly probes: BoardProbes;
  readonly clock: Clock;
  readonly random: Random;
  /** Looks only. */
  readonly isDry: boolean;
}

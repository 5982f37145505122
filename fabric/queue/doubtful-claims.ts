import type { Author } from '../domain/events.ts';
import { PrincipalId, type TaskId } from '../domain/ids.ts';
import { change, eventOf } from './change.ts';
import type { LogWriterDeps } from './deps.ts';

/**
 * Claims that were asked for and got no clear answer: the board may hold them, and this process, which is
 * alive, would keep them from everybody until their lease is over. They are given back once it answers.
 */
export class DoubtfulClaims {
  readonly #uids = new Set<TaskId>();

  add(uid: TaskId): void {
    this.#uids.add(uid);
  }

  /**
   * Gives back those that turned out to be ours.
   * @throws MeshError `FABRIC_DOWN`: what is left is looked at the next time
   */
  async settle(deps: LogWriterDeps, agentId: string, incarnation: string): Promise<void> {
    const by: Author = { id: PrincipalId.parse(agentId), role: 'agent' };
    for (const uid of this.#uids) {
      if ((await deps.board.read(uid)) !== undefined) {
        await change(deps, uid, ({ state: { claim } }) => {
          const isOurs = claim?.incarnation === incarnation && claim.holder === by.id;
          if (!isOurs || claim.started) return undefined;
          return eventOf(deps, by, 'released', {
            fence: claim.fence,
            reason: 'the board gave no clear answer when it was claimed',
          });
        });
      }
      this.#uids.delete(uid);
    }
  }
}

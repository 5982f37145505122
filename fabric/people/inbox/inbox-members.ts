import { z } from 'zod';
import type { PrincipalId } from '../../domain/ids.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { BoardProject } from '../../kanboard/board-projects.ts';
import type { KanboardRpc } from '../../kanboard/kanboard-rpc.ts';
import { call, resultOf } from '../../kanboard/kanboard-rows.ts';

export interface InboxMembersOptions {
  readonly rpc: KanboardRpc;
  readonly clock: Clock;
  readonly log: Log;
}

/** How long it is believed who may open a project. */
const freshMs = 60_000;

const User = z.union([z.looseObject({ id: z.coerce.number() }), z.literal(false), z.null()]);
/** Names by user id, and `[]` where PHP has nothing to name. */
const Members = z.union([
  z.record(z.string(), z.string()),
  z.array(z.unknown()).transform((): Record<string, string> => ({})),
]);

/** Lets each person into their own inbox project, and tells when somebody else can read along. */
export class InboxMembers {
  readonly #options: InboxMembersOptions;
  readonly #known = new Map<
    number,
    { readonly atMs: number; readonly userId: number | undefined }
  >();
  readonly #reported = new Set<number>();

  constructor(options: InboxMembersOptions) {
    this.#options = options;
  }

  /** The person's Kanboard user, a member of the project from now on; undefined where there is none yet. */
  async admit(project: BoardProject, human: PrincipalId): Promise<number | undefined> {
    const { rpc, clock } = this.#options;
    const known = this.#known.get(project.projectId);
    if (known && clock.monotonicMs() - known.atMs < freshMs) return known.userId;
    const project_id = project.projectId;
    const [found, listed] = await rpc.batch([
      call('getUserByName', { username: human }),
      call('getProjectUsers', { project_id }),
    ]);
    const user = resultOf(found, User, 'a user');
    const members = Object.keys(resultOf(listed, Members, 'who may open an inbox')).map(Number);
    const userId = user ? user.id : undefined;
    this.#report(project, members.filter((member) => member !== userId).length);
    if (userId !== undefined && !members.includes(userId)) {
      await rpc.batch([
        call('addProjectUser', { project_id, user_id: userId, role: 'project-member' }),
      ]);
    }
    this.#known.set(project_id, { atMs: clock.monotonicMs(), userId });
    return userId;
  }

  forget({ projectId }: BoardProject): void {
    this.#known.delete(projectId);
  }

  /** Each person is a privacy domain: who else was let in reads what is theirs. */
  #report({ projectId, queue }: BoardProject, others: number): void {
    if (others === 0) this.#reported.delete(projectId);
    if (others === 0 || this.#reported.has(projectId)) return;
    this.#reported.add(projectId);
    const reason =
      'Others are members of this inbox. Take them out in Kanboard: Project → Permissions.';
    this.#options.log.error('inbox.not-private', { queue, others, reason });
  }
}

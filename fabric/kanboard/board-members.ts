import { z } from 'zod';
import { callsPerRequest, type Call, type KanboardRpc, type Reply } from './kanboard-rpc.ts';
import { call, MadeId, resultOf, UserRows } from './kanboard-rows.ts';

export type BoardUser = z.infer<typeof UserRows>[number];

export interface Membership {
  readonly projectId: number;
  readonly userId: number;
}

/** `''`: none. */
const Role = z
  .string()
  .nullish()
  .transform((role) => role ?? '');

/** Users of a Kanboard and what each may do in our projects. */
export class BoardMembers {
  readonly #rpc: KanboardRpc;

  constructor(rpc: KanboardRpc) {
    this.#rpc = rpc;
  }

  async users(): Promise<readonly BoardUser[]> {
    const [reply] = await this.#rpc.batch([call('getAllUsers')]);
    return resultOf(reply, UserRows, 'the list of users');
  }

  /** Undefined where Kanboard makes none of that name. */
  async create(username: string, name: string, password: string): Promise<number | undefined> {
    const params = { username, name, password, role: 'app-user' };
    const [reply] = await this.#rpc.batch([call('createUser', params)]);
    return resultOf(reply, MadeId, `the user ${username}`);
  }

  /** The role of each, in their order; '' for none. */
  async roles(all: readonly Membership[]): Promise<readonly string[]> {
    const replies = await inBatches(
      this.#rpc,
      all.map(({ projectId, userId }) =>
        call('getProjectUserRole', { project_id: projectId, user_id: userId }),
      ),
    );
    return replies.map((reply) => resultOf(reply, Role, 'a role in a project'));
  }

  /** Makes a user a plain member, whatever they were before. */
  async makeMembers(all: readonly (Membership & { readonly role: string })[]): Promise<void> {
    const replies = await inBatches(
      this.#rpc,
      all.map(({ projectId, userId, role }) =>
        call(role === '' ? 'addProjectUser' : 'changeProjectUserRole', {
          project_id: projectId,
          user_id: userId,
          role: memberRole,
        }),
      ),
    );
    for (const reply of replies) resultOf(reply, z.literal(true), 'a role in a project');
  }

  /** Everybody who may open each project, by user id. */
  async of(projectIds: readonly number[]): Promise<ReadonlyMap<number, readonly number[]>> {
    const calls = projectIds.map((id) => call('getProjectUsers', { project_id: id }));
    const replies = await inBatches(this.#rpc, calls);
    return new Map(
      projectIds.map((id, at) => [id, resultOf(replies[at], Ids, 'the users of a project')]),
    );
  }
}

export const memberRole = 'project-member';

/** The keys of `{id: name}`; `[]` where PHP has nothing to name. */
const Ids = z
  .union([z.record(z.string(), z.unknown()), z.array(z.unknown())])
  .transform((named) => Object.keys(named).map(Number));

export async function inBatches(
  rpc: KanboardRpc,
  calls: readonly Call[],
): Promise<readonly Reply[]> {
  const replies: Reply[] = [];
  for (let from = 0; from < calls.length; from += callsPerRequest) {
    replies.push(...(await rpc.batch(calls.slice(from, from + callsPerRequest))));
  }
  return replies;
}

import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { writeFileAtomically } from '../../cards/registry/atomic-file.ts';
import type { QueueId } from '../../fabric/domain/ids.ts';
import {
  memberRole,
  type BoardUser,
  type Membership,
} from '../../fabric/kanboard/board-members.ts';
import type { AgentPolicy } from '../../fabric/ports/directory.ts';
import { isHuman, queuesOf } from './queues-of.ts';
import type { SetupContext } from './setup-context.ts';
import { right, wrong, type Step } from './step.ts';

/** A Kanboard user for each agent and person, and what each may do in which project. */
export async function setUpPeople(
  context: SetupContext,
  projects: ReadonlyMap<QueueId, number>,
): Promise<readonly Step[]> {
  const known = new Map((await context.members.users()).map((user) => [user.name, user]));
  const ids = new Map([...known].map(([name, { userId }]) => [name, userId]));
  const made: Step[] = [];
  for (const policy of context.policies) {
    if (ids.has(policy.agentId)) continue;
    const { step, userId } = await makeUser(context, policy);
    made.push(step);
    if (userId !== undefined) ids.set(policy.agentId, userId);
  }
  const total = context.policies.length;
  return [
    ...made,
    ...oddUsers(context.policies, known),
    right('users', `${total - made.length} of ${total} were there`),
    ...(await setUpRoles(context, projects, ids)),
    ...(await strangersInInboxes(context, projects, known)),
  ];
}

/** A person's password is put where only they can read it; an agent's is known to nobody. */
async function makeUser(
  { members, random, paths, isDry }: SetupContext,
  policy: AgentPolicy,
): Promise<{ readonly step: Step; readonly userId?: number }> {
  const { agentId, name } = policy;
  const file = join(paths.boardPasswords, `${agentId}.password`);
  const isPerson = isHuman(policy);
  const says = isPerson
    ? `${agentId}: made, the password is in ${file}`
    : `${agentId}: made, nobody can log in as it`;
  if (isDry) return { step: { about: 'user', verdict: 'would', says } };
  const password = random.hex(isPerson ? 12 : 32);
  if (isPerson) {
    // First: a user whose password nobody has would be of no use.
    await mkdir(paths.boardPasswords, { recursive: true, mode: 0o700 });
    await writeFileAtomically(file, `${password}\n`, 0o600);
  }
  const userId = await members.create(agentId, name, password);
  if (userId !== undefined) return { userId, step: { about: 'user', verdict: 'changed', says } };
  if (isPerson) await rm(file, { force: true });
  const fix = 'Make it by hand (Users management), with this name.';
  return { step: wrong('warn', 'user', `Kanboard makes no user ${agentId}`, fix) };
}

function oddUsers(
  policies: readonly AgentPolicy[],
  known: ReadonlyMap<string, BoardUser>,
): readonly Step[] {
  return policies.flatMap((policy): Step[] => {
    const user = known.get(policy.agentId);
    if (user === undefined) return [];
    const { name } = user;
    if (!user.isActive) {
      const fix = 'Enable it: Users management.';
      return [wrong('warn', 'user', `${name} is disabled, so no task shows it`, fix)];
    }
    if (user.role === 'app-admin' && !isHuman(policy)) {
      const fix = `Make it a plain user, or call the agent something else: whoever logs in as ${name} may do everything.`;
      return [wrong('warn', 'user', `${name} is an agent and an administrator of the board`, fix)];
    }
    return [];
  });
}

async function setUpRoles(
  { policies, members, isDry }: SetupContext,
  projects: ReadonlyMap<QueueId, number>,
  ids: ReadonlyMap<string, number>,
): Promise<readonly Step[]> {
  const wanted = policies.flatMap((policy) =>
    [...queuesOf(policy, policies)].flatMap((queue) => {
      const [projectId, userId] = [projects.get(queue), ids.get(policy.agentId)];
      if (projectId === undefined || userId === undefined) return [];
      return [{ projectId, userId, queue, agentId: policy.agentId } satisfies Wanted];
    }),
  );
  const roles = await members.roles(wanted);
  const changes = wanted.flatMap((one, at) => {
    const role = roles[at] ?? '';
    return role === memberRole ? [] : [{ ...one, role }];
  });
  if (!isDry) await members.makeMembers(changes);
  const verdict = isDry ? 'would' : 'changed';
  const steps = policies.flatMap(({ agentId }): Step[] => {
    const of = changes.filter((change) => change.agentId === agentId);
    if (of.length === 0) return [];
    return [{ about: 'member', verdict, says: memberWords(agentId, of) }];
  });
  const kept = wanted.length - changes.length;
  return [...steps, right('members', `${kept} of ${wanted.length} memberships were there`)];
}

interface Wanted extends Membership {
  readonly queue: QueueId;
  readonly agentId: string;
}

const memberWords = (agentId: string, of: readonly (Wanted & { role: string })[]): string => {
  const lowered = of
    .filter(({ role }) => role !== '')
    .map(({ queue, role }) => `${queue} (was ${role})`);
  const added = of.filter(({ role }) => role === '').map(({ queue }) => queue);
  return `${agentId}: member of ${[...added, ...lowered].join(', ')}`;
};

/** Each person is a domain of their own (`DESIGN.md` 7): what waits on one is nobody else's to read. */
async function strangersInInboxes(
  { policies, members }: SetupContext,
  projects: ReadonlyMap<QueueId, number>,
  known: ReadonlyMap<string, BoardUser>,
): Promise<readonly Step[]> {
  const people = policies.filter(isHuman);
  const inboxes = people.flatMap(({ agentId, queue }) => {
    const projectId = projects.get(queue);
    return projectId === undefined ? [] : [{ agentId, projectId }];
  });
  const inside = await members.of(inboxes.map(({ projectId }) => projectId));
  return inboxes.flatMap(({ agentId, projectId }) => {
    const others = [...known.values()]
      .filter(({ userId, name }) => name !== agentId && inside.get(projectId)?.includes(userId))
      .map(({ name }) => name);
    if (others.length === 0) return [];
    const fix = `Take them out: project ${projectId} → Permissions.`;
    return [wrong('warn', 'privacy', `${others.join(', ')} can read the inbox of ${agentId}`, fix)];
  });
}

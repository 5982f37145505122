import { MeshError, type MeshErrorCode } from '../domain/errors.ts';
import { PrincipalId } from '../domain/ids.ts';
import type { Principal, Scope } from '../domain/principal.ts';
import type { Directory } from '../ports/directory.ts';

/** What the board's own login stands for. Whatever an administrator may beyond it takes a token of the mesh. */
const boardScopes: readonly Scope[] = [
  'tasks:submit',
  'tasks:read',
  'tasks:answer',
  'tasks:verify',
  'tasks:cancel',
];

/** Who a Kanboard user is to the mesh: the human whose Card bears that name. */
export function personCalled(
  directory: Directory,
  username: string,
): Principal | { readonly why: string } {
  const policy = directory.agent(username);
  if (policy === undefined) {
    return {
      why:
        `**${username}** is not known here. An operator adds a human Card of that name ` +
        `(\`mesh cards new\`); do it again after that.`,
    };
  }
  if (policy.trust !== 'human') {
    return { why: `**${username}** is an agent's account. People act with their own.` };
  }
  const id = PrincipalId.parse(username);
  return { id, role: 'human', trust: 'human', scopes: new Set(boardScopes) };
}

const notTheirs =
  'It is not yours: its submitter, the person it is done for and whoever is asked may do that.';

/** In place of the message, where that is worded for a caller and not for somebody at the board. */
const words: Readonly<Partial<Record<MeshErrorCode, string>>> = { NOT_FOUND: notTheirs };

/** Why a use case refused, for the board: it names no ids, since people see the task before them. */
export function refusalOf(error: unknown): string | undefined {
  if (!(error instanceof MeshError) || error.code === 'FABRIC_DOWN') return undefined;
  const said = words[error.code] ?? error.message;
  return said
    .replace(/\bTask [0-9a-f]{32}\b/g, 'This task')
    .replace(/\btask [0-9a-f]{32}\b/g, 'this task');
}

import type { Author } from './events.ts';
import type { PrincipalId, TaskId } from './ids.ts';
import type { TrustClass } from './trust.ts';

/** What a credential may do (`DESIGN.md` 7). */
export const scopes = [
  'tasks:submit',
  'tasks:read',
  'tasks:read-all',
  'tasks:answer',
  'tasks:verify',
  'tasks:cancel',
  'tasks:work',
  'cards:read',
  'admin',
] as const;
export type Scope = (typeof scopes)[number];

/** Who calls, as the credential says; nothing of it ever comes from a body. */
export interface Principal {
  readonly id: PrincipalId;
  readonly role: 'human' | 'agent';
  readonly trust: TrustClass;
  readonly scopes: ReadonlySet<Scope>;
  /** The run this credential is bound to: it may submit children of that task and await them. */
  readonly run?: { readonly taskId: TaskId; readonly fence: number };
  /** An agent whose Card lets it verify the work of others (`verification: {reviewer: true}`). */
  readonly reviewer?: boolean;
  /** Trusted router or front that relays for `id`. */
  readonly actor?: PrincipalId;
}

export const authorOf = (principal: Principal): Author => ({
  id: principal.id,
  role: principal.role,
});

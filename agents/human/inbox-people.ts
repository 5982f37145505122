import { MeshError } from '../../fabric/domain/errors.ts';
import { PrincipalId } from '../../fabric/domain/ids.ts';
import { scopes, type Principal, type Scope } from '../../fabric/domain/principal.ts';
import type { Clock } from '../../fabric/ports/clock.ts';
import type { Directory } from '../../fabric/ports/directory.ts';
import { requireScope } from '../../fabric/queue/answer.ts';
import { credentialOf } from '../auth/credential.ts';
import type { TokenStore } from '../auth/token-store.ts';
import type { InboxGrant } from './inbox-sessions.ts';

export interface InboxPeopleOptions {
  readonly directory: Pick<Directory, 'agent'>;
  readonly tokens: TokenStore;
  readonly clock: Clock;
}

/** Who may have an inbox page, and what they may do on it. */
export interface InboxPeople {
  /**
   * What a link for `person` opens, who made `request`.
   * @throws MeshError `TRUST_DENIED` for anybody but a person with an API token that may read tasks
   */
  grantFor(person: Principal, request: Request): InboxGrant;
  /** The person as the page knows them now; undefined once the token or the Card says so no more. */
  readonly personOf: (grant: InboxGrant) => Principal | undefined;
}

/** A person sees and steers their own tasks here, nobody else's; a page works on no queue. */
const pageScopes: readonly Scope[] = scopes.filter(
  (scope) => scope !== 'admin' && scope !== 'tasks:work' && scope !== 'tasks:read-all',
);

/** A page does no more than the API token that its link was made with, and no longer than that one. */
export function inboxPeople({ directory, tokens, clock }: InboxPeopleOptions): InboxPeople {
  return {
    grantFor(person, request) {
      const credential = credentialOf(request);
      const record = credential?.kind === 'token' ? tokens.find(credential.text) : undefined;
      if (person.role !== 'human' || record === undefined) {
        throw new MeshError(
          'TRUST_DENIED',
          'Only a person has an inbox page. Use a human’s API token.',
        );
      }
      requireScope(person, 'tasks:read');
      return { person: PrincipalId.parse(person.id), tokenId: record.tokenId };
    },
    personOf({ person, tokenId }) {
      if (directory.agent(person)?.trust !== 'human') return undefined;
      const record = tokens.record(tokenId);
      if (record?.principalId !== person) return undefined;
      if ((record.expiresAtMs ?? Infinity) <= clock.nowMs()) return undefined;
      const granted = pageScopes.filter((scope) => record.scopes.includes(scope));
      return { id: person, role: 'human', trust: 'human', scopes: new Set(granted) };
    },
  };
}

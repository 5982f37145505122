import { PrincipalId } from '../fabric/domain/ids.ts';
import { scopes, type Principal } from '../fabric/domain/principal.ts';
import type { MeshConnection } from './mesh-connection.ts';

/**
 * Who sits at this terminal, as far as showing goes: a person with all rights. What they really may
 * do is the mesh's to say, from the token.
 */
export const ownPrincipal = ({ principal }: Pick<MeshConnection, 'principal'>): Principal => ({
  id: PrincipalId.parse(principal),
  role: 'human',
  trust: 'human',
  scopes: new Set(scopes),
});

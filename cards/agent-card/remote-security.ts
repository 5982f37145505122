import type { JsonObject } from './canonical-json.ts';
import type { RemoteFault } from './remote-fault.ts';
import { isRecord } from './json-record.ts';

/**
 * Whether there is a way to authenticate that we have: a bearer token or a key in a header. A card
 * that declares none is refused; an empty list never means that anybody may call.
 */
export function securityFault(card: JsonObject): readonly RemoteFault[] {
  const schemes = isRecord(card['securitySchemes']) ? card['securitySchemes'] : {};
  const names = Object.keys(schemes);
  if (names.length === 0) return [{ code: 'no-security-declared', path: '$.securitySchemes' }];
  const ways = requirementsOf(card);
  if (ways === undefined) {
    if (names.some((name) => isSupported(schemes[name]))) return [];
    return [{ code: 'unsupported-security-scheme', path: `$.securitySchemes.${names[0] ?? ''}` }];
  }
  const guarded = ways.list.filter((way) => way.length > 0);
  if (guarded.length === 0) return [{ code: 'no-security-declared', path: ways.path }];
  const isOpen = guarded.some((way) => way.every((name) => isSupported(schemes[name])));
  return isOpen ? [] : [{ code: 'unsupported-security-scheme', path: ways.path }];
}

interface Requirements {
  /** One list of scheme names a way in; all of a list are needed together. */
  readonly list: readonly (readonly string[])[];
  readonly path: string;
}

function requirementsOf(card: JsonObject): Requirements | undefined {
  const current = card['securityRequirements'];
  if (Array.isArray(current))
    return {
      path: '$.securityRequirements',
      list: (current as unknown[]).map((way) => keysOf(isRecord(way) ? way['schemes'] : undefined)),
    };
  const older = card['security'];
  if (Array.isArray(older)) return { path: '$.security', list: (older as unknown[]).map(keysOf) };
  return undefined;
}

const keysOf = (value: unknown): readonly string[] => (isRecord(value) ? Object.keys(value) : []);

/** Both spellings: OpenAPI's of 0.3 and the one-member objects of 1.0. */
function isSupported(scheme: unknown): boolean {
  if (!isRecord(scheme)) return false;
  const http = scheme['httpAuthSecurityScheme'] ?? (scheme['type'] === 'http' ? scheme : undefined);
  if (isRecord(http)) return isBearer(http['scheme']);
  const key = scheme['apiKeySecurityScheme'] ?? (scheme['type'] === 'apiKey' ? scheme : undefined);
  return isRecord(key) && (key['location'] ?? key['in']) === 'header';
}

const isBearer = (scheme: unknown): boolean =>
  typeof scheme === 'string' && scheme.toLowerCase() === 'bearer';

import type { JsonObject } from './canonical-json.ts';
import type { RemoteFault } from './remote-fault.ts';
import { parseRemoteJson } from './remote-json.ts';
import { type RemoteInterface, remoteInterfaces } from './remote-interfaces.ts';
import { isRecord } from './json-record.ts';
import { remoteWarnings } from './remote-warnings.ts';
import { securityFault } from './remote-security.ts';
import { isPrivateHost } from './private-host.ts';

export interface RemoteCardPolicy {
  /** Private hosts that may be called all the same, from `mesh.yaml`. */
  readonly labHosts: readonly string[];
  /** The origin that git pins for this peer; a card that names another is refused. */
  readonly pinnedOrigin?: string;
}

/** What a foreign agent card is worth. `codes` and `warnings` are closed, stable words. */
export interface RemoteCardVerdict {
  readonly verdict: 'accept' | 'reject';
  readonly codes: readonly string[];
  readonly warnings: readonly string[];
  readonly faults: readonly RemoteFault[];
  /** The protocol that is spoken to it; only when accepted. */
  readonly wireVersion?: '1.0' | '0.3';
  /** Where it is called, and the one origin that a credential may be sent to; only when accepted. */
  readonly endpoint?: string;
  readonly tokenOrigin?: string;
  /** The card with its unknown fields, without examples that are no text; only when accepted. */
  readonly card?: JsonObject;
}

/**
 * Judges the text of somebody else's agent card. Layout is told by structure, never by the version
 * it claims. Nothing is fetched or guessed, no missing rule means "anybody", and no text of the card
 * is ever more than data. Never throws; the same text and policy give the same verdict.
 */
export function judgeRemoteCard(text: string, policy: RemoteCardPolicy): RemoteCardVerdict {
  const parsed = parseRemoteJson(text);
  if (!parsed.ok) return rejected([parsed.fault], []);
  const card = parsed.card;
  const interfaces = remoteInterfaces(card);
  const warnings = remoteWarnings(card, interfaces.layout);
  const usable = interfaces.list.find(isOurs);
  const faults = [
    ...nameFault(card),
    ...interfaces.list.flatMap((one) => addressFault(one, policy)),
    ...(interfaces.list.some(({ binding }) => binding === 'JSONRPC')
      ? []
      : [{ code: 'no-jsonrpc-interface', path: interfaces.path }]),
    ...securityFault(card),
  ];
  if (faults.length > 0) return rejected(faults, warnings);
  if (usable === undefined)
    return rejected([{ code: 'unsupported-protocol-version', path: interfaces.path }], warnings);
  return {
    verdict: 'accept',
    codes: [],
    warnings,
    faults: [],
    wireVersion: usable.version === '1.0' ? '1.0' : '0.3',
    endpoint: usable.url,
    tokenOrigin: new URL(usable.url).origin,
    card: withTextExamples(card),
  };
}

function rejected(faults: readonly RemoteFault[], warnings: readonly string[]): RemoteCardVerdict {
  const codes = [...new Set(faults.map(({ code }) => code))];
  return { verdict: 'reject', codes, warnings, faults };
}

const isOurs = ({ binding, version }: RemoteInterface): boolean =>
  binding === 'JSONRPC' && (version === '1.0' || version === '0.3');

function nameFault({ name }: JsonObject): readonly RemoteFault[] {
  const isNamed = typeof name === 'string' && name.trim() !== '';
  return isNamed ? [] : [{ code: 'missing-field:name', path: '$.name' }];
}

function addressFault(
  { url, path }: RemoteInterface,
  { labHosts, pinnedOrigin }: RemoteCardPolicy,
): readonly RemoteFault[] {
  const address = URL.canParse(url) ? new URL(url) : undefined;
  if (address === undefined || !/^https?:$/.test(address.protocol))
    return [{ code: 'interface-url-not-absolute', path }];
  const { hostname, host, origin, protocol, username, password } = address;
  const isLab = labHosts.includes(hostname) || labHosts.includes(host);
  const isPrivate = isPrivateHost(hostname);
  const faults = [
    ...(isPrivate && !isLab ? ['private-host'] : []),
    ...(protocol === 'http:' && !isPrivate && !isLab ? ['interface-url-not-https'] : []),
    ...(username !== '' || password !== '' ? ['credentials-in-url'] : []),
    ...(pinnedOrigin !== undefined && origin !== pinnedOrigin ? ['origin-not-pinned'] : []),
  ];
  return faults.map((code) => ({ code, path }));
}

/** Skill examples that are objects are dropped: whoever shows a card may rely on text. */
function withTextExamples(card: JsonObject): JsonObject {
  const { skills } = card;
  if (!Array.isArray(skills)) return card;
  const kept = (skills as JsonObject[]).map((skill) => {
    if (!isRecord(skill) || !Array.isArray(skill['examples'])) return skill;
    const examples = skill['examples'].filter((example) => typeof example === 'string');
    return { ...skill, examples };
  });
  return { ...card, skills: kept };
}

import type { JsonObject } from './canonical-json.ts';
import { isRecord } from './json-record.ts';
import type { RemoteLayout } from './remote-interfaces.ts';

/** Fields of 1.0 and 0.3; `tags` is what directories add, `authentication` the 0.2 form. */
const cardFields = new Set([
  ...['name', 'description', 'version', 'provider', 'documentationUrl', 'iconUrl', 'capabilities'],
  ...['defaultInputModes', 'defaultOutputModes', 'skills', 'securitySchemes', 'signatures'],
  ...['supportedInterfaces', 'securityRequirements'],
  ...['protocolVersion', 'url', 'preferredTransport', 'additionalInterfaces', 'security'],
  ...['supportsAuthenticatedExtendedCard', 'tags', 'authentication'],
]);
const skillFields = new Set([
  ...['id', 'name', 'description', 'tags', 'examples', 'inputModes', 'outputModes'],
  ...['security', 'securityRequirements'],
]);

/** What is odd about a card and harms nobody: the layout's claim, gaps, unknown and outdated fields. */
export function remoteWarnings(card: JsonObject, layout: RemoteLayout): readonly string[] {
  const skills = skillsOf(card);
  const found = [
    ...(isMismatched(card, layout) ? ['version-layout-mismatch'] : []),
    ...(isRecord(card['provider']) && typeof card['provider']['organization'] !== 'string'
      ? ['provider.organization-missing']
      : []),
    ...(skills.some(hasOddExample) ? ['skill-example-not-string'] : []),
    ...unknownIn(card, cardFields, ''),
    ...skills.flatMap((skill) => unknownIn(skill, skillFields, 'skills[].')),
    ...('authentication' in card ? ['legacy-field:authentication'] : []),
  ];
  return [...new Set(found)];
}

function isMismatched(card: JsonObject, layout: RemoteLayout): boolean {
  const claimed = card['protocolVersion'];
  if (typeof claimed !== 'string') return false;
  return layout === '0.3'
    ? !claimed.startsWith('0.')
    : !claimed.startsWith('1.') && !('url' in card);
}

const skillsOf = (card: JsonObject): readonly JsonObject[] =>
  Array.isArray(card['skills']) ? (card['skills'] as unknown[]).filter(isRecord) : [];

const hasOddExample = (skill: JsonObject): boolean =>
  Array.isArray(skill['examples']) &&
  skill['examples'].some((example) => typeof example !== 'string');

/** A key with a leading underscore or `x-` is somebody's note, by custom. */
function unknownIn(
  fields: JsonObject,
  known: ReadonlySet<string>,
  under: string,
): readonly string[] {
  return Object.keys(fields)
    .filter((key) => !known.has(key) && !/^(_|x-)/.test(key))
    .map((key) => `unknown-field:${under}${key.slice(0, 100)}`);
}

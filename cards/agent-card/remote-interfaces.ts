import type { JsonObject } from './canonical-json.ts';
import { isRecord } from './json-record.ts';

/** Which generation a card is laid out as. */
export type RemoteLayout = '1.0' | '0.3';

export interface RemoteInterface {
  readonly url: string;
  readonly binding: string;
  /** Major.Minor; a patch digit plays no part (A2A 1.0, 3.6.2). */
  readonly version: string;
  /** Where the address stands in the card. */
  readonly path: string;
}

export interface RemoteInterfaces {
  readonly layout: RemoteLayout;
  readonly list: readonly RemoteInterface[];
  /** Where interfaces would stand. */
  readonly path: string;
}

/** Every address a card names, by its structure: `supportedInterfaces` is 1.0, a bare `url` is 0.3. */
export function remoteInterfaces(card: JsonObject): RemoteInterfaces {
  const declared = card['supportedInterfaces'];
  if (Array.isArray(declared)) {
    const current = (declared as unknown[]).map((entry, index) =>
      toInterface(entry, `$.supportedInterfaces[${index}].url`, 'protocolBinding', '1.0'),
    );
    // A card for both generations names its old address too: it is held to the same rules.
    const older = card['url'] === undefined ? [] : olderInterfaces(card);
    return { layout: '1.0', list: [...current, ...older], path: '$.supportedInterfaces' };
  }
  return { layout: '0.3', list: olderInterfaces(card), path: '$.url' };
}

function olderInterfaces(card: JsonObject): readonly RemoteInterface[] {
  const main = toInterface(
    { url: card['url'], transport: card['preferredTransport'] ?? 'JSONRPC' },
    '$.url',
    'transport',
    '0.3',
  );
  const others = card['additionalInterfaces'];
  if (!Array.isArray(others)) return [main];
  const more = (others as unknown[]).map((entry, index) =>
    toInterface(entry, `$.additionalInterfaces[${index}].url`, 'transport', '0.3'),
  );
  return [main, ...more];
}

function toInterface(
  entry: unknown,
  path: string,
  bindingKey: string,
  layout: RemoteLayout,
): RemoteInterface {
  const fields = isRecord(entry) ? entry : {};
  const text = (key: string) => (typeof fields[key] === 'string' ? fields[key] : '');
  const stated = layout === '1.0' ? text('protocolVersion') : '0.3';
  const version = /^(\d+\.\d+)(\.\d+)?$/.exec(stated)?.[1] ?? stated;
  return { url: text('url'), binding: text(bindingKey), version, path };
}

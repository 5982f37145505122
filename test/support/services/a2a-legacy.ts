import { createRequire } from 'node:module';
import { join } from 'node:path';
import { availableService } from './service.ts';

/**
 * An earlier generation of the A2A SDK as a module: `0.3` is 0.3.14, `0.2` is 0.2.5. It is the
 * CommonJS form, since only that can be resolved from another folder. The caller says what it uses
 * of it: the types of those names here are today's generation's.
 * @param entry `@a2a-js/sdk` or one of its subpaths: `@a2a-js/sdk/client`
 */
export function requireLegacyA2a(generation: '0.2' | '0.3', entry: string): unknown {
  const { path } = availableService(`a2a-legacy-${generation}`);
  const legacyRequire: (name: string) => unknown = createRequire(join(path, 'package.json'));
  return legacyRequire(entry);
}

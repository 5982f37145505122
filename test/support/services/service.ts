import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'vitest';
import { z } from 'zod';

const Service = z.discriminatedUnion('available', [
  z.object({
    available: z.literal(true),
    path: z.string(),
    version: z.string(),
    env: z.record(z.string(), z.string()).optional(),
  }),
  z.object({ available: z.literal(false), reason: z.string() }),
]);
export type Service = z.infer<typeof Service>;
export type AvailableService = Extract<Service, { available: true }>;

/** What `npm test` prepares; each is one entry of scripts/services/prepare-services.mjs. */
export type ServiceName =
  'litellm' | 'chromium' | 'postgres' | 'kanboard' | 'a2a-legacy-0.2' | 'a2a-legacy-0.3';

/** The folder that `npm test` installs services into. */
export const servicesFolder = join(import.meta.dirname, '../../../.services');

/** A third-party service as `npm test` found or installed it, or the reason why there is none. */
export function service(name: ServiceName): Service {
  return prepared()[name] ?? { available: false, reason: `not prepared yet; run npm test once` };
}

function prepared(): Record<string, Service> {
  const file = join(servicesFolder, 'services.json');
  try {
    return z.record(z.string(), Service).parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return {};
    throw new Error(`${file} is not what npm test writes. Delete it and run npm test.`, {
      cause: error,
    });
  }
}

/** The service, for code that runs only where it is there. Throws with the reason where it is not. */
export function availableService(name: ServiceName): AvailableService {
  const found = service(name);
  if (!found.available) throw new Error(`No ${name}: ${found.reason}`);
  return found;
}

/**
 * A `describe` whose tests need a real service. Where it can't be had they are skipped, with one
 * printed line why; with CI=true or MESH_REQUIRE_SERVICES=1 that is a failure, so that a green run
 * of CI has really met the service.
 */
export function describeWith(
  name: ServiceName,
  title: string,
  body: (available: AvailableService) => void,
): void {
  const found = service(name);
  describe(title, () => {
    if (found.available) {
      body(found);
      return;
    }
    const missing = `needs ${name}: ${found.reason}`;
    if (servicesAreRequired()) {
      it(missing, () => {
        throw new Error(`No ${name}: ${found.reason} Services are required here (CI).`);
      });
    } else {
      process.stderr.write(`skipped: ${title} ${missing}\n`);
      it.skip(missing);
    }
  });
}

function servicesAreRequired(): boolean {
  const { CI: ci, MESH_REQUIRE_SERVICES: required } = process.env;
  return ci === 'true' || ci === '1' || required === '1';
}

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

/** One answer of a real proxy. `{{now+60s}}` stands for an instant, relative to the answer. */
export const LiteLlmFixture = z.strictObject({
  /** The proxy's version. */
  version: z.string(),
  request: z.strictObject({
    path: z.string(),
    /** Whose key: an agent of the scenario, `master`, or `unknown`. */
    key: z.string(),
    model: z.string().optional(),
    stream: z.boolean().optional(),
  }),
  status: z.int(),
  headers: z.record(z.string(), z.string()),
  body: z.string(),
});
export type LiteLlmFixture = z.infer<typeof LiteLlmFixture>;

export const fixtureFolder = join(import.meta.dirname, '../fixtures/litellm');

/** The recorded answers by name, their instants set relative to `nowMs`. */
export function liteLlmFixtures(nowMs: number): ReadonlyMap<string, LiteLlmFixture> {
  const names = readdirSync(fixtureFolder).filter((name) => name.endsWith('.json'));
  return new Map(
    names.map((name) => {
      const text = readFileSync(join(fixtureFolder, name), 'utf8');
      const fixture = LiteLlmFixture.parse(JSON.parse(text));
      const headers = Object.entries(fixture.headers).map(([key, value]) => [
        key,
        withInstants(value, nowMs),
      ]);
      const body = withInstants(fixture.body, nowMs);
      return [
        name.slice(0, -'.json'.length),
        { ...fixture, headers: Object.fromEntries(headers) as Record<string, string>, body },
      ];
    }),
  );
}

function withInstants(text: string, nowMs: number): string {
  return text.replaceAll(/\{\{now\+(\d+)s\}\}/g, (_, seconds: string) => {
    const at = new Date(nowMs + Number(seconds) * 1_000).toISOString();
    return `${at.slice(0, 10)} ${at.slice(11, 19)} UTC`;
  });
}

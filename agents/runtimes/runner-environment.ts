import type { Card } from '../../cards/schema/card.ts';
import { isMeshVariable } from '../../cards/schema/lint-trust.ts';
import type { Run } from '../../fabric/ports/run-task.ts';

/** What a runner may be given beside its packet. */
export interface RunnerGrants {
  /** PATH and LANG of the mesh's own process, nothing else of it. */
  readonly basicEnvironment: Readonly<Record<string, string>>;
  /** The value of a variable that a Card lists; undefined where the host has none. */
  variable(name: string): string | undefined;
  /** Where the mesh's front is reached; undefined where none is: then there is no way back for a run. */
  meshUrl(): string | undefined;
  /** A token bound to this task and its claim; it dies with the run. */
  issueRunToken(run: {
    readonly agentId: string;
    readonly taskId: string;
    readonly fence: number;
    readonly expiresAtMs: number;
  }): Promise<string>;
}

export type RunnerEnvironment =
  | {
      readonly ok: true;
      readonly env: Readonly<Record<string, string>>;
      /** Values that never show in anything we say about the run. */
      readonly secrets: readonly string[];
    }
  | { readonly ok: false; readonly missing: readonly string[] };

/**
 * The minimal environment of a run (`DESIGN.md` 7): PATH, LANG, what the Card fixes or lists, and, only
 * where the Card has `mayCall` or `progress`, the way back into the mesh. What sets up the mesh itself is
 * missing for every Card, even for one that was never linted.
 */
export async function runnerEnvironment(
  card: Card,
  run: Run,
  grants: RunnerGrants,
  expiresAtMs: number,
): Promise<RunnerEnvironment> {
  const valueOf = (name: string) => (isMeshVariable(name) ? undefined : grants.variable(name));
  const listed = [...card.env, ...card.secrets].map((name) => [name, valueOf(name)] as const);
  const missing = listed.flatMap(([name, value]) => (value === undefined ? [name] : []));
  if (missing.length > 0) return { ok: false, missing };
  const secrets = card.secrets.map((name) => valueOf(name) ?? '');
  const env = {
    ...grants.basicEnvironment,
    ...card.runner?.env,
    ...(Object.fromEntries(listed) as Record<string, string>),
  };
  const meshUrl = grants.meshUrl();
  const hasWayBack = card.mayCall.length > 0 || card.progress;
  if (!hasWayBack || meshUrl === undefined) return { ok: true, env, secrets };
  const { taskId } = run.state;
  const bound = { agentId: run.agentId, taskId, fence: run.fence, expiresAtMs };
  const token = await grants.issueRunToken(bound);
  return {
    ok: true,
    env: { ...env, MESH_URL: meshUrl, MESH_TASK_TOKEN: token },
    secrets: [...secrets, token],
  };
}

/** `text` without the values of `secrets`. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  return secrets
    .filter((secret) => secret !== '')
    .reduce((masked, secret) => masked.replaceAll(secret, '[redacted]'), text);
}

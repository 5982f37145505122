import { hkdfSync } from 'node:crypto';
import { jwtVerify, SignJWT } from 'jose';
import { z } from 'zod';
import { AgentId, TaskId } from '../../fabric/domain/ids.ts';

/** The `typ` of a run's token, so that no verifier takes one kind for the other. */
export const runTokenType = 'mesh-run+jwt';
const audience = 'mesh';

export interface RunTokenClaims {
  readonly agentId: AgentId;
  readonly taskId: TaskId;
  readonly fence: number;
  /** Ms since the epoch. */
  readonly expiresAtMs: number;
}

/**
 * The token that a run gets as `MESH_TASK_TOKEN`: it may submit children of its task and await them
 * (`DESIGN.md` 7). HS256 with a key of its own, derived from the mesh secret (RFC 5869). It holds only
 * as long as the log says that the claim at this fence is working.
 */
export async function issueRunToken(
  run: Omit<RunTokenClaims, 'agentId' | 'taskId'> & {
    readonly meshSecret: string;
    readonly agentId: string;
    readonly taskId: string;
  },
): Promise<string> {
  return new SignJWT({ task: run.taskId, fence: run.fence })
    .setProtectedHeader({ alg: 'HS256', typ: runTokenType })
    .setSubject(run.agentId)
    .setAudience(audience)
    .setExpirationTime(Math.floor(run.expiresAtMs / 1_000))
    .sign(runKey(run.meshSecret));
}

const Claims = z.looseObject({
  sub: AgentId,
  task: TaskId,
  fence: z.int().positive(),
  exp: z.int().positive(),
});

/** The claims of a run token that this mesh issued and whose time is not over; else undefined. */
export async function readRunToken(
  meshSecret: string,
  token: string,
  nowMs: number,
): Promise<RunTokenClaims | undefined> {
  const read = await jwtVerify(token, runKey(meshSecret), {
    algorithms: ['HS256'],
    typ: runTokenType,
    audience,
    currentDate: new Date(nowMs),
  }).catch(() => undefined);
  const claims = Claims.safeParse(read?.payload);
  if (!claims.success) return undefined;
  const { sub: agentId, task: taskId, fence, exp } = claims.data;
  return { agentId, taskId, fence, expiresAtMs: exp * 1_000 };
}

const keys = new Map<string, Uint8Array>();

function runKey(meshSecret: string): Uint8Array {
  const known = keys.get(meshSecret);
  if (known) return known;
  const key = new Uint8Array(hkdfSync('sha256', meshSecret, '', 'cardmesh run token v1', 32));
  keys.set(meshSecret, key);
  return key;
}

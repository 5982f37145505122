import { reasonOf } from '../../fabric/domain/errors.ts';
import type { Clock } from '../../fabric/ports/clock.ts';
import { relative } from '../text/relative-time.ts';
import { fail, ok, warn, type Finding } from './finding.ts';

const answerWithinMs = 3_000;
/** A signed call lives 5 minutes; hosts that differ by more than this soon refuse each other. */
const mostSkewMs = 5_000;

/** Whether a front answers at `url`, and whether its clock agrees with ours. */
export async function frontFindings(url: string, clock: Clock): Promise<Finding[]> {
  const sentAtMs = clock.nowMs();
  const response = await fetchWithin(`${url}/healthz`);
  if (response instanceof Error) {
    return [warn('front', `nothing answers at ${url}`, 'Start it with `mesh up`.')];
  }
  if (!response.ok) {
    const fix = 'Look at the log of `mesh up`.';
    return [fail('front', `${url} answers HTTP ${response.status}`, fix)];
  }
  return [ok('front', `answers at ${url}`), ...skewFinding(response, sentAtMs, clock.nowMs())];
}

/** The Date header counts in whole seconds, so one of them is nobody's fault. */
function skewFinding(response: Response, sentAtMs: number, receivedAtMs: number): Finding[] {
  const theirsMs = Date.parse(response.headers.get('date') ?? '');
  if (Number.isNaN(theirsMs)) return [];
  const skewMs = Math.max(sentAtMs - 1_000 - theirsMs, theirsMs - receivedAtMs, 0);
  if (skewMs <= mostSkewMs) return [ok('clocks', 'this machine and the front agree')];
  const says = `the front's clock stands ${relative(theirsMs, receivedAtMs)}`;
  return [fail('clocks', says, 'Set both clocks by a time service (NTP).')];
}

export interface Gateway {
  readonly url: string | undefined;
  readonly key: string | undefined;
  /** Another process has it, with a key that is not known here. */
  readonly isAnothers: boolean;
}

/** Whether the gateway answers; any HTTP answer says that it is there. */
export async function gatewayFinding({
  url: gatewayUrl,
  key,
  isAnothers,
}: Gateway): Promise<Finding> {
  if (gatewayUrl === undefined) {
    const fix = 'Set gateway.url in mesh.yaml or MESH_GATEWAY_URL, or leave it: all else works.';
    return warn('gateway', 'none is set: model agents wait', fix);
  }
  const base = gatewayUrl.replace(/\/+$/u, '').replace(/\/v1$/u, '');
  const headers: Record<string, string> =
    key === undefined ? {} : { authorization: `Bearer ${key}` };
  const response = await fetchWithin(`${base}/v1/models`, headers);
  if (response instanceof Error) {
    const fix = 'Start the gateway, or correct its address.';
    return fail('gateway', `nothing answers at ${base}: ${response.message}`, fix);
  }
  if (response.status === 401 || response.status === 403) {
    if (isAnothers && key === undefined) {
      return ok('gateway', `answers at ${base}; the running mesh's key was not tried`);
    }
    return fail('gateway', 'it refuses the key', 'Set MESH_GATEWAY_KEY to a key that it knows.');
  }
  return response.ok
    ? ok('gateway', `answers at ${base}`)
    : warn('gateway', `${base} answers HTTP ${response.status}`, 'Look at the gateway’s log.');
}

async function fetchWithin(
  url: string,
  headers: Record<string, string> = {},
): Promise<Response | Error> {
  try {
    const response = await fetch(url, { headers, signal: AbortSignal.timeout(answerWithinMs) });
    await response.body?.cancel();
    return response;
  } catch (error) {
    return error instanceof Error ? error : new Error(reasonOf(error));
  }
}

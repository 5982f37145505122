import type { Clock } from '../fabric/ports/clock.ts';
import type { Random } from '../fabric/ports/random.ts';
import type { HealthBook } from './availability/health-book.ts';
import { auditCall } from './gateway/call-audit.ts';
import type {
  CallFailure,
  ChatAnswer,
  ChatRequest,
  GatewayClient,
  ServedBy,
} from './gateway/gateway-client.ts';
import type { QuotaLedger } from './ledger/quota-ledger.ts';
import { longestMs } from './ledger/quota-window.ts';
import type { ModelCandidate } from './model-candidate.ts';
import type { CallerClass } from '../fabric/ports/availability.ts';

export interface ModelCallDeps {
  readonly ledger: QuotaLedger;
  readonly health: HealthBook;
  readonly clock: Clock;
  readonly random: Random;
}

export interface ModelCall {
  /** The backbone that `decide` routed to, as registered when the run was claimed. */
  readonly model: ModelCandidate;
  /** With the key of the agent that calls. */
  readonly gateway: GatewayClient;
  readonly request: Omit<ChatRequest, 'model' | 'resetCapMs'>;
  readonly caller: CallerClass;
  /** Prompt and answer, estimated; corrected by what the provider counted. */
  readonly estimatedTokens: number;
  /** Given: the answer is streamed, and not tried again once a piece is out. */
  readonly onText?: (piece: string) => void;
}

/** The model said no for now: park until `untilMs` (absent: until a probe), count no attempt. */
export interface ModelWall {
  readonly ok: false;
  readonly class: 'wall';
  readonly message: string;
  readonly untilMs?: number;
}

/** A call and its two retries (`reference/litellm.md` 2.6 row 10). */
const tries = 3;
const firstBackoffMs = 500;

/**
 * One completion under the quota's rules: reserve durably, call once, look at what the gateway did, then commit or
 * release, and tell the health book. A quota wall comes back as `wall`, an event of availability and no failure.
 */
export async function callModel(
  deps: ModelCallDeps,
  call: ModelCall,
  signal: AbortSignal,
): Promise<ChatAnswer | CallFailure | ModelWall> {
  const streamed: { begun: boolean } = { begun: false };
  const onText = call.onText;
  const watched =
    onText === undefined
      ? call
      : {
          ...call,
          onText: (piece: string) => {
            streamed.begun = true;
            onText(piece);
          },
        };
  for (let attempt = 1; ; attempt += 1) {
    const answer = await callOnce(deps, watched, signal);
    if (answer.ok || answer.class === 'wall' || answer.retry === 'never') return answer;
    const last = answer.retry === 'once' ? 2 : tries;
    if (attempt >= last || streamed.begun || signal.aborted) return answer;
    await deps.clock.sleep(waitMs(deps, answer, attempt), signal);
  }
}

function waitMs({ clock, random }: ModelCallDeps, failure: CallFailure, attempt: number): number {
  if (failure.resetAtMs !== undefined && failure.retry === 'once') {
    return Math.max(0, failure.resetAtMs - clock.nowMs());
  }
  return firstBackoffMs * 2 ** (attempt - 1) * (1 + random.fraction());
}

async function callOnce(
  deps: ModelCallDeps,
  { model, gateway, request, caller, estimatedTokens, onText }: ModelCall,
  signal: AbortSignal,
): Promise<ChatAnswer | CallFailure | ModelWall> {
  const { ledger, health } = deps;
  const { agentId, windows, gatewayModel } = model;
  const { taskId } = request.origin;
  const units = { request: 1, token: estimatedTokens };
  const by = { units, caller, agentId: request.origin.agentId, taskId };
  const reservation = ledger.reserve(windows, by);
  if (reservation.kind === 'spent') {
    const { reasons, untilMs } = reservation.availability;
    return wall(`${agentId}: ${reasons.join('; ')}`, untilMs);
  }
  const { leaseId } = reservation.lease;
  health.started(agentId);
  const resetCap = windows.length === 0 ? {} : { resetCapMs: Math.max(...windows.map(longestMs)) };
  const asked = { ...request, model: gatewayModel, ...resetCap };
  const answer =
    onText === undefined
      ? await gateway.chat(asked, signal)
      : await gateway.chatStream(asked, onText, signal);
  if (answer.ok) {
    const { usage, servedBy } = answer;
    ledger.commit(leaseId, usage && usage.promptTokens + usage.completionTokens);
    health.succeeded(agentId);
    audited(deps, model, servedBy);
    return answer;
  }
  if (answer.notSent) ledger.release(leaseId);
  else ledger.commit(leaseId);
  return fallenShort(deps, model, answer);
}

function audited({ health }: ModelCallDeps, model: ModelCandidate, by: ServedBy): void {
  const expected = { ...model, modelAgentId: model.agentId };
  for (const incident of auditCall(expected, by)) health.incident(model.agentId, incident);
}

/** What a failure means for the next call. A quota wall marks the fullest window, the one that it most likely is. */
function fallenShort(
  { ledger, health, clock }: ModelCallDeps,
  { agentId, windows }: ModelCandidate,
  failure: CallFailure,
): CallFailure | ModelWall {
  const { class: kind, resetAtMs, message } = failure;
  const isWall = kind === 'provider-429' || kind === 'quota-spent';
  if (isWall && windows.length > 0) {
    health.succeeded(agentId);
    const [fullest] = ledger
      .uses(windows)
      .toSorted((one, other) => other.used / other.window.cap - one.used / one.window.cap);
    if (fullest === undefined) return failure;
    const untilMs = ledger.markSpent(fullest.window, resetAtMs);
    return wall(message, Math.max(untilMs, fullest.freeAtMs ?? 0));
  }
  health.failed(agentId, failure);
  if (kind === 'gateway-limit' && failure.retry === 'never') return wall(message, resetAtMs);
  if (kind === 'cooldown' || kind === 'budget-spent' || kind === 'gateway-down') {
    return wall(message, resetAtMs);
  }
  if (kind === 'quota-spent') return wall(message, resetAtMs ?? clock.nowMs() + unknownResetMs);
  return failure;
}

/** A used-up credit without a date is asked about again after this. */
const unknownResetMs = 15 * 60_000;

const wall = (message: string, untilMs: number | undefined): ModelWall => ({
  ok: false,
  class: 'wall',
  message,
  ...(untilMs !== undefined && { untilMs }),
});

import type { Availability, AvailabilityProbe } from '../../fabric/ports/availability.ts';
import type { Clock } from '../../fabric/ports/clock.ts';
import { decide } from '../decide.ts';
import type { QuotaLedger } from '../ledger/quota-ledger.ts';
import type { MeteredBudget } from '../metered-grant.ts';
import type { Candidate, ModelCandidate } from '../model-candidate.ts';
import type { RouterSnapshot } from '../router-snapshot.ts';
import { Target } from '../target.ts';
import type { CallerClass } from '../../fabric/ports/availability.ts';
import { clockText } from '../wall-time.ts';
import type { HealthBook } from './health-book.ts';
import { holds, product, termOf } from './term.ts';
import type { Term } from './term.ts';
import { isOnVacation, openAt } from './working-hours.ts';

/** The registered agents as the router sees them; a new set is a new object. */
export interface CandidateSet {
  readonly commit: string;
  readonly candidates: ReadonlyMap<string, Candidate>;
}

export interface RouterAvailabilityOptions {
  readonly agents: () => CandidateSet;
  readonly gatewayConfigured: boolean;
  readonly health: HealthBook;
  readonly ledger: QuotaLedger;
  readonly clock: Clock;
  /** Budgets of gateway keys as last read, by agent id; none without metered models. */
  readonly budgets: () => ReadonlyMap<string, MeteredBudget>;
  /** Model agents that are loaded now; none where nobody reports it. */
  readonly warm: () => ReadonlySet<string>;
}

export interface RouterAvailability extends AvailabilityProbe {
  /** Everything a decision needs, for one class of caller, taken now. */
  snapshot(caller: CallerClass): RouterSnapshot;
}

/** One ordinary call; the tokens of a prompt are known only to who makes it. */
const oneCall = { request: 1, token: 1 } as const;

/**
 * a(t) of every registered agent from memory and the ledger's file, never from a network. A persona is
 * available when its backbone is.
 */
export function routerAvailability(options: RouterAvailabilityOptions): RouterAvailability {
  const { agents, clock, budgets, warm } = options;
  const snapshot = (caller: CallerClass): RouterSnapshot => {
    const { commit, candidates } = agents();
    const all = [...candidates.values()];
    const models = all.filter((one) => one.kind === 'model');
    return {
      commit,
      candidates,
      availability: new Map(all.map((one) => [one.agentId, ownAvailability(one, options, caller)])),
      budgets: budgets(),
      warm: warm(),
      pressure: new Map(models.map((model) => [model.agentId, pressureOf(model, options.ledger)])),
    };
  };
  return {
    snapshot,
    at: (agentId, caller = 'background') => {
      const candidate = agents().candidates.get(agentId);
      if (candidate === undefined) {
        return { a: 0, reasons: [`no agent ${agentId} is registered`] };
      }
      if (candidate.kind !== 'persona') return ownAvailability(candidate, options, caller);
      return personaAvailability(candidate.agentId, snapshot(caller), caller, clock.nowMs());
    },
  };
}

function personaAvailability(
  agentId: string,
  snapshot: RouterSnapshot,
  caller: CallerClass,
  nowMs: number,
): Availability {
  const task = { taskId: '', submitterId: agentId, caller };
  const target = Target.parse({ kind: 'agent', agentId });
  const decision = decide(task, target, snapshot, nowMs);
  if (decision.do === 'route') return { a: 1, reasons: [] };
  const untilMs = decision.do === 'park' ? decision.untilMs : undefined;
  return { a: 0, reasons: decision.reasons, ...(untilMs !== undefined && { untilMs }) };
}

function ownAvailability(
  candidate: Candidate,
  options: RouterAvailabilityOptions,
  caller: CallerClass,
): Availability {
  const terms = [hoursTerm(candidate, options.clock.nowMs())];
  if (candidate.kind === 'persona') terms.push(gatewayTerm(options));
  if (candidate.kind === 'model') {
    const { ledger, health } = options;
    const quota = ledger.availability(candidate.windows, { units: oneCall, caller });
    terms.push(gatewayTerm(options), health.term(candidate.agentId), termOf(quota));
  }
  return product(terms);
}

function gatewayTerm({ gatewayConfigured, health }: RouterAvailabilityOptions): Term {
  if (!gatewayConfigured) return { a: 0, reason: 'no gateway configured' };
  return health.gatewayTerm();
}

function hoursTerm({ hours, asleep }: Candidate, nowMs: number): Term {
  if (asleep === true) return { a: 0, reason: 'asleep until something wakes it' };
  if (hours === undefined) return holds;
  const openness = openAt(hours, nowMs);
  if (openness.open) return holds;
  const { vacation } = hours;
  const isAway = vacation === true || (vacation !== false && isOnVacation(vacation, nowMs));
  const why = isAway ? 'on vacation' : 'outside its working hours';
  const { opensAtMs } = openness;
  if (opensAtMs === undefined) return { a: 0, reason: why };
  const reason = `${why} until ${clockText(opensAtMs, nowMs)}`;
  return { a: 0, reason, untilMs: opensAtMs };
}

/** Share of the fullest window that is used. */
function pressureOf({ windows }: ModelCandidate, ledger: QuotaLedger): number {
  if (windows.length === 0) return 0;
  const shares = ledger.uses(windows).map(({ used, window }) => used / window.cap);
  return Math.max(...shares);
}

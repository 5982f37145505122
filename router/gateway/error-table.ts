import { parseReset, parseRetryAfter, resetCapMs } from './reset-time.ts';

/** Why a call through the gateway failed, a closed list (`reference/litellm.md` 2.6). */
export const errorClasses = [
  /** The key's budget is spent: money, not time. */
  'budget-spent',
  /** The gateway's own limit on this key. */
  'gateway-limit',
  /** All deployments of the group rest after failures; says nothing about a quota. */
  'cooldown',
  /** The gateway does not know the model, or serves none of it. */
  'config',
  /** The prompt does not fit the model's context. */
  'too-long',
  /** Content policy. */
  'refused',
  /** The provider's rate limit; a quota wall where the Card has windows. */
  'provider-429',
  /** The provider says that a quota or credit is used up, with another status than 429. */
  'quota-spent',
  /** The key is wrong or may not call this model. */
  'auth',
  /** The request itself is wrong; the same again would be too. */
  'bad-request',
  /** It may work in a moment. */
  'transient',
  /** The gateway itself does not answer. */
  'gateway-down',
  /** We stopped it. */
  'aborted',
] as const;
export type ErrorClass = (typeof errorClasses)[number];

/** What a failed call left behind. Strings are the gateway's and stay inside this module's callers. */
export interface ErrorEvidence {
  /** Absent: no HTTP answer, or an error inside a stream. */
  readonly status?: number;
  readonly type?: string;
  readonly code?: string;
  readonly message: string;
  readonly header: (name: string) => string | undefined;
}

/** `once`: wait until `resetAtMs`, then one more try. `backoff`: at most two, with jitter. */
export type RetryAdvice = 'never' | 'once' | 'backoff';

export interface Classified {
  readonly class: ErrorClass;
  readonly resetAtMs?: number;
  readonly retry: RetryAdvice;
}

interface Row {
  readonly class: ErrorClass;
  readonly matches: (evidence: Trimmed) => boolean;
  readonly reset?: (evidence: Trimmed, nowMs: number, capMs: number) => number | undefined;
  readonly retry?: RetryAdvice;
}

interface Trimmed extends ErrorEvidence {
  readonly type: string;
  readonly code: string;
}

/** A gateway limit that ends within this is waited for; a longer one parks. */
const shortWaitMs = 120_000;

const headerReset = ({ header, message }: Trimmed, nowMs: number, capMs: number) =>
  parseReset(header('reset_at') ?? '', nowMs, capMs) ??
  parseRetryAfter(header('retry-after'), nowMs, capMs) ??
  parseReset(message, nowMs, capMs);

const providerReset = ({ header, message }: Trimmed, nowMs: number, capMs: number) =>
  parseReset(message, nowMs, capMs) ??
  parseRetryAfter(header('llm_provider-retry-after'), nowMs, capMs) ??
  parseRetryAfter(header('retry-after'), nowMs, capMs);

/** The rows of 2.6 in their order: type first, then headers, then message, status last. */
const rows: readonly Row[] = [
  {
    class: 'budget-spent',
    matches: ({ type, message }) =>
      type === 'budget_exceeded' || /Budget has been exceeded|crossed budget/i.test(message),
    reset: headerReset,
  },
  {
    class: 'gateway-limit',
    matches: ({ header }) =>
      header('rate_limit_type') !== undefined || header('reset_at') !== undefined,
    reset: headerReset,
  },
  {
    class: 'cooldown',
    matches: ({ message }) => /No deployments available for selected model/i.test(message),
    reset: headerReset,
  },
  {
    class: 'config',
    matches: ({ message, status, type }) =>
      /There are no healthy deployments|Invalid model name/i.test(message) ||
      (status === 404 && type !== 'token_not_found_in_db'),
  },
  {
    class: 'too-long',
    matches: ({ message, code }) =>
      /ContextWindowExceeded/i.test(message) || code === 'context_length_exceeded',
  },
  {
    class: 'refused',
    matches: ({ message, code }) =>
      /content_policy|ContentPolicyViolation|content_filter/i.test(message) ||
      code === 'content_policy_violation',
  },
  {
    class: 'gateway-down',
    matches: ({ type, message }) => type === 'no_db_connection' || /no_db_connection/.test(message),
  },
  {
    class: 'provider-429',
    matches: ({ status, message }) => status === 429 || /RateLimitError/.test(message),
    reset: providerReset,
    retry: 'backoff',
  },
  {
    class: 'quota-spent',
    matches: ({ status, message }) =>
      (status === undefined || status === 400 || status === 402 || status === 403) &&
      /usage limit|insufficient[ _](credits?|quota|balance|funds)|out of (credits?|budget)|\bquota\b|subscription/i.test(
        message,
      ),
    reset: providerReset,
  },
  { class: 'quota-spent', matches: ({ status }) => status === 402, reset: providerReset },
  {
    class: 'auth',
    matches: ({ status, type, message }) =>
      status === 401 ||
      status === 403 ||
      /^(expired_key|token_not_found_in_db|auth_error)$|model_access_denied$/.test(type) ||
      /No connected db|AuthenticationError/i.test(message),
  },
  {
    class: 'transient',
    matches: ({ status, message }) =>
      status === undefined || status === 408 || status >= 500 || /Connection error/i.test(message),
    reset: providerReset,
    retry: 'backoff',
  },
];

/**
 * One failed call, classified. Total: what no row knows is `bad-request`. `capMs` bounds a parsed reset: the
 * Card's longest quota window, else 6 h.
 */
export function classify(evidence: ErrorEvidence, nowMs: number, capMs = resetCapMs): Classified {
  const trimmed = {
    ...evidence,
    type: evidence.type ?? '',
    code: evidence.code ?? '',
    message: withoutTrailer(evidence.message),
  };
  const row = rows.find(({ matches }) => matches(trimmed));
  if (row === undefined) return { class: 'bad-request', retry: 'never' };
  const resetAtMs = row.reset?.(trimmed, nowMs, capMs);
  return {
    class: row.class,
    retry: retryAdvice(row, resetAtMs, nowMs),
    ...(resetAtMs !== undefined && { resetAtMs }),
  };
}

function retryAdvice(row: Row, resetAtMs: number | undefined, nowMs: number): RetryAdvice {
  if (row.class === 'gateway-limit') {
    return resetAtMs !== undefined && resetAtMs - nowMs <= shortWaitMs ? 'once' : 'never';
  }
  return row.retry ?? 'never';
}

/** LiteLLM adds lines that name model groups and settings: `quota-model` there is no quota. */
function withoutTrailer(message: string): string {
  const end = message.search(/\n(?:\nLiteLLM: |model=|Received Model Group=|\nSet ')/);
  return end === -1 ? message : message.slice(0, end);
}

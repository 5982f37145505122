import { describe, expect, it } from 'vitest';
import { classify } from '../../router/gateway/error-table.ts';
import type { ErrorClass, RetryAdvice } from '../../router/gateway/error-table.ts';
import { parseReset, parseRetryAfter, resetCapMs } from '../../router/gateway/reset-time.ts';
import { liteLlmFixtures } from '../support/litellm-fixture.ts';

const nowMs = Date.UTC(2026, 10, 30, 9, 0, 0);
const fixtures = liteLlmFixtures(nowMs);
const minute = 60_000;

function classifyFixture(name: string) {
  const fixture = fixtures.get(name);
  if (fixture === undefined) throw new Error(`no fixture ${name}`);
  const { error } = JSON.parse(fixture.body) as {
    error: { message: string; type: string | null; code: string };
  };
  return classify(
    {
      status: fixture.status,
      message: error.message,
      ...(error.type !== null && { type: error.type }),
      code: error.code,
      header: (header) => fixture.headers[header],
    },
    nowMs,
  );
}

describe('answers recorded from a real proxy', () => {
  it.each<[fixture: string, kind: ErrorClass, retry: RetryAdvice, resetInMs?: number]>([
    ['chat-dear', 'budget-spent', 'never'],
    ['chat-slow-key', 'gateway-limit', 'once', minute],
    ['chat-cooled', 'cooldown', 'never', 30_000],
    ['chat-no-such-model', 'config', 'never'],
    ['chat-long-prompt', 'too-long', 'never'],
    ['chat-bad-words', 'refused', 'never'],
    ['chat-wall-iso', 'provider-429', 'backoff', 5 * 60 * minute],
    ['chat-wall-plain', 'provider-429', 'backoff', 30_000],
    ['stream-wall-iso', 'provider-429', 'backoff', 5 * 60 * minute],
    ['chat-wall-400', 'quota-spent', 'never', 305 * minute],
    ['chat-wall-402', 'quota-spent', 'never'],
    ['chat-bad-key', 'auth', 'never'],
    ['chat-unknown-key', 'auth', 'never'],
    ['chat-adolf-denied', 'auth', 'never'],
    ['chat-mute-denied', 'auth', 'never'],
    ['chat-silent', 'transient', 'backoff'],
    ['chat-unreachable', 'transient', 'backoff'],
    ['chat-down-500', 'transient', 'backoff'],
    ['chat-down-503', 'transient', 'backoff'],
    ['chat-down-529', 'transient', 'backoff'],
  ])('%s is %s', (fixture, kind, retry, resetInMs) => {
    const resetAtMs = resetInMs === undefined ? undefined : nowMs + resetInMs;
    const found = classifyFixture(fixture);
    expect(found.class).toBe(kind);
    expect(found.retry).toBe(retry);
    expect(found.resetAtMs).toBe(resetAtMs);
  });
});

describe('evidence that other versions give', () => {
  const none = () => undefined;
  it.each<[what: string, evidence: Parameters<typeof classify>[0], kind: ErrorClass]>([
    [
      'a budget with status 400',
      { status: 400, type: 'budget_exceeded', message: '', header: none },
      'budget-spent',
    ],
    [
      'a budget by its words',
      { status: 400, message: 'Budget has been exceeded! Current cost: 1', header: none },
      'budget-spent',
    ],
    [
      'a gateway without database',
      { status: 503, type: 'no_db_connection', message: '', header: none },
      'gateway-down',
    ],
    [
      'a key it never knew',
      { status: 400, type: 'token_not_found_in_db', message: 'No connected db.', header: none },
      'auth',
    ],
    [
      'no healthy deployment',
      { status: 400, message: 'There are no healthy deployments for this model', header: none },
      'config',
    ],
    ['an unknown path', { status: 404, message: 'Not Found', header: none }, 'config'],
    ['an error inside a stream', { message: 'upstream died', header: none }, 'transient'],
    [
      'a 429 inside a stream',
      { code: '429', message: 'litellm.RateLimitError: x', header: none },
      'provider-429',
    ],
    [
      'a wrong request',
      { status: 422, message: 'messages: field required', header: none },
      'bad-request',
    ],
    [
      'a model group named like a quota',
      {
        status: 500,
        message: "boom\n\nLiteLLM: model group 'quota-content_policy' failed with the error above.",
        header: none,
      },
      'transient',
    ],
  ])('%s', (_what, evidence, kind) => {
    expect(classify(evidence, nowMs).class).toBe(kind);
  });
});

describe('parseReset', () => {
  const at = (...parts: [number, number, number, number?, number?]) =>
    Date.UTC(parts[0], parts[1] - 1, parts[2], parts[3] ?? 0, parts[4] ?? 0);
  const week = 7 * 24 * 60 * minute;
  it.each<[text: string, atMs: number | undefined]>([
    ['reset_at=2026-11-30T14:00:00Z', at(2026, 11, 30, 14)],
    ['resets 2026-11-30T14:00:00+02:00', at(2026, 11, 30, 12)],
    ['Limit resets at: 2026-11-30 09:15:16 UTC', at(2026, 11, 30, 9, 15) + 16_000],
    ['You will regain access on 2026-12-01 at 00:00 UTC.', at(2026, 12, 1)],
    ['regain access on 2026-12-02', at(2026, 12, 2)],
    ['try again in 2h 13m', nowMs + 133 * minute],
    ['Please try again in 6m30.5s.', nowMs + 390_500],
    ['retry after 450ms', nowMs + 450],
    ['try again in 3 hours and 5 minutes', nowMs + 185 * minute],
    ['Try again in 30 seconds.', nowMs + 30_000],
    ['It resets at 14:05 UTC', at(2026, 11, 30, 14, 5)],
    ['resets at 08:00 UTC', at(2026, 12, 1, 8)],
    ['resets 3pm (America/New_York)', at(2026, 11, 30, 20)],
    ['limit reached|reset 1796050800', 1_796_050_800_000],
    ['reset: 1796050800000', 1_796_050_800_000],
    ['resets at 25:99', undefined],
    ['resets 3pm (Mars/Olympus)', undefined],
    ['rubbish', undefined],
    ['reset_at=2020-01-01T00:00:00Z', undefined],
  ])('%s', (text, atMs) => {
    expect(parseReset(text, nowMs, week)).toBe(atMs);
  });

  it('is capped, for a date as for a retry-after of a lifetime', () => {
    expect(parseReset('resets 2031-01-01T00:00:00Z', nowMs)).toBe(nowMs + resetCapMs);
    expect(parseRetryAfter('1000000000', nowMs)).toBe(nowMs + resetCapMs);
    expect(parseRetryAfter('30', nowMs)).toBe(nowMs + 30_000);
    expect(parseRetryAfter('Mon, 30 Nov 2026 10:00:00 GMT', nowMs)).toBe(nowMs + 60 * minute);
    expect(parseRetryAfter('soon', nowMs)).toBeUndefined();
    expect(parseRetryAfter('-5', nowMs)).toBeUndefined();
  });
});

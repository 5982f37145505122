import { APIConnectionError, APIError, APIUserAbortError } from 'openai/core/error';
import { classify } from './error-table.ts';
import type { Classified, ErrorClass, ErrorEvidence } from './error-table.ts';
import type { CallFailure } from './gateway-client.ts';
import { headerOf } from './served-by.ts';

/** Which call failed, for the sentence and the classification. */
export interface FailedCall {
  /** `The call to tier/small`; starts the sentence. */
  readonly what: string;
  readonly nowMs: number;
  readonly resetCapMs?: number;
  /** The caller's own stop, not a time-out of ours. */
  readonly stopped: boolean;
  readonly timeoutMs: number;
}

const hints: Readonly<Record<ErrorClass, string>> = {
  'budget-spent': 'the budget of its gateway key is spent; raise it or wait for its reset',
  'gateway-limit': "it is over the gateway's own limit for its key",
  cooldown: 'every deployment of the model rests after failures',
  config: "the gateway serves no such model; compare the Card with the gateway's model_list",
  'too-long': "the prompt is longer than the model's context; ask for more with minContext",
  refused: "the provider's content policy refused it",
  'provider-429': 'the provider limits its rate',
  'quota-spent': 'the provider says that a quota or credit is used up',
  auth: 'the gateway key is wrong or may not call this model',
  'bad-request': "the gateway calls the request itself wrong; see the gateway's log",
  transient: 'the provider or the way to it failed',
  'gateway-down': 'the gateway does not answer; look whether it runs and at its address',
  aborted: 'it was stopped',
};

/** Nothing of it can have reached a provider: the gateway turned it away, or was not there. */
const turnedAway: ReadonlySet<ErrorClass> = new Set([
  'budget-spent',
  'gateway-limit',
  'cooldown',
  'config',
  'gateway-down',
]);

/** A failure of our own finding: a bad shape, an empty answer. */
export function failureOf(
  classified: Classified,
  { what }: Pick<FailedCall, 'what'>,
  detail?: string,
): CallFailure {
  const { class: kind, retry, resetAtMs } = classified;
  return {
    ok: false,
    class: kind,
    message: `${what} failed: ${detail ?? hints[kind]}.`,
    retry,
    ...(resetAtMs !== undefined && { resetAtMs }),
    notSent: turnedAway.has(kind),
  };
}

/** A thrown error of the `openai` client or of `fetch` as a value; the remote text is read and dropped. */
export function toFailure(error: unknown, call: FailedCall): CallFailure {
  if (call.stopped) return failureOf({ class: 'aborted', retry: 'never' }, call);
  if (isTimeout(error)) {
    const detail = `there was no answer within ${call.timeoutMs} ms`;
    return failureOf({ class: 'transient', retry: 'backoff' }, call, detail);
  }
  if (isConnectionError(error)) {
    const refused = causes(error).some(({ code }) => neverConnected.has(code ?? ''));
    if (refused) return failureOf({ class: 'gateway-down', retry: 'backoff' }, call);
    return failureOf({ class: 'transient', retry: 'backoff' }, call, 'the connection broke');
  }
  return failureOf(classify(evidenceOf(error), call.nowMs, call.resetCapMs), call);
}

const neverConnected: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

const isTimeout = (error: unknown): boolean =>
  error instanceof APIUserAbortError ||
  causes(error).some(({ name }) => name === 'TimeoutError' || name === 'AbortError') ||
  (error instanceof Error && error.constructor.name === 'APIConnectionTimeoutError');

const isConnectionError = (error: unknown): boolean =>
  error instanceof APIConnectionError || (error instanceof TypeError && error.cause !== undefined);

interface Link {
  readonly name?: string;
  readonly code?: string;
}

function causes(error: unknown): readonly Link[] {
  const links: Link[] = [];
  for (let link = error; link instanceof Error && links.length < 8; link = link.cause) {
    const code = 'code' in link && typeof link.code === 'string' ? link.code : undefined;
    links.push({ name: link.name, ...(code !== undefined && { code }) });
    // Several addresses of one host were tried.
    if (link instanceof AggregateError) links.push(...link.errors.flatMap((one) => causes(one)));
  }
  return links;
}

function evidenceOf(error: unknown): ErrorEvidence {
  if (!(error instanceof APIError)) {
    return { message: error instanceof Error ? error.message : '', header: () => undefined };
  }
  const known = error as APIError;
  const { status, type, code, message } = known;
  return {
    message,
    header: headerOf(known.headers),
    ...(status !== undefined && { status }),
    ...(typeof type === 'string' && { type }),
    ...(code != null && { code }),
  };
}

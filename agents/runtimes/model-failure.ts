import { limits } from '../../fabric/domain/limits.ts';
import type { RunEnd } from '../../fabric/ports/run-task.ts';
import type { CallFailure } from '../../router/gateway/gateway-client.ts';
import type { ModelWall } from '../../router/model-call.ts';

/** What a failed model call means for its task: the one place. */
export function endOfFailure(failure: CallFailure | ModelWall): RunEnd {
  const { message } = failure;
  switch (failure.class) {
    case 'wall':
      return parked(message, failure.untilMs);
    case 'budget-spent':
    case 'gateway-limit':
    case 'cooldown':
    case 'quota-spent':
    case 'provider-429':
    case 'gateway-down':
    case 'auth':
    case 'config':
      // The last two are wrong settings: a person repairs them, and the work that waits is none the worse.
      return parked(message, failure.resetAtMs);
    case 'refused':
      return {
        kind: 'asked',
        question: {
          kind: 'question',
          to: 'submitter',
          text: `${message} Say it in another way, or cancel the task.`.slice(
            0,
            limits.answerChars,
          ),
          options: [],
        },
      };
    case 'too-long':
    case 'bad-request':
      return { kind: 'failed', reason: message, retryable: false };
    case 'transient':
      return { kind: 'failed', reason: message, retryable: true };
    case 'aborted':
      return { kind: 'stopped' };
  }
}

const parked = (reason: string, untilMs?: number): RunEnd => ({
  kind: 'parked',
  reason,
  ...(untilMs !== undefined && { untilMs }),
});

/** Failures that a person must repair at the gateway or in a Card. */
export const isIncident = ({ class: kind }: CallFailure | ModelWall): boolean =>
  kind === 'auth' || kind === 'config' || kind === 'bad-request';

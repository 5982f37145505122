import type { ServedBy } from './gateway-client.ts';

type Header = (name: string) => string | undefined;

/** LiteLLM's answer headers, as far as they are there (`reference/litellm.md` 2.5). */
export function servedBy(header: Header): ServedBy {
  const text = (name: string) => header(name) || undefined;
  const number = (name: string) => {
    const value = text(name);
    const parsed = value === undefined ? Number.NaN : Number(value);
    return Number.isFinite(parsed) ? parsed : undefined;
  };
  const callId = text('x-litellm-call-id');
  const deploymentId = text('x-litellm-model-id');
  const modelGroup = text('x-litellm-model-group');
  const attemptedFallbacks = number('x-litellm-attempted-fallbacks');
  const attemptedRetries = number('x-litellm-attempted-retries');
  // 1.106 leaves the plain header out where a call costs nothing and gives the price before discounts.
  const costUsd = number('x-litellm-response-cost') ?? number('x-litellm-response-cost-original');
  const keySpendUsd = number('x-litellm-key-spend');
  return {
    ...(callId !== undefined && { callId }),
    ...(deploymentId !== undefined && { deploymentId }),
    ...(modelGroup !== undefined && { modelGroup }),
    ...(attemptedFallbacks !== undefined && { attemptedFallbacks }),
    ...(attemptedRetries !== undefined && { attemptedRetries }),
    ...(costUsd !== undefined && { costUsd }),
    ...(keySpendUsd !== undefined && { keySpendUsd }),
  };
}

export const headerOf =
  (headers: Headers | undefined): Header =>
  (name) =>
    headers?.get(name) ?? undefined;

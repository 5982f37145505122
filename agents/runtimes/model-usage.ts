import type { Usage } from '../../fabric/domain/task.ts';
import type { ChatAnswer } from '../../router/gateway/gateway-client.ts';

/** What the calls of one run took together. */
export interface UsageSum {
  add(answer: ChatAnswer): void;
  total(): Usage;
}

export function usageSum(model: string): UsageSum {
  let [inputTokens, outputTokens, costUsd, turns] = [0, 0, 0, 0];
  let costKnown = false;
  return {
    add({ usage, servedBy }) {
      turns += 1;
      inputTokens += usage?.promptTokens ?? 0;
      outputTokens += usage?.completionTokens ?? 0;
      costKnown ||= servedBy.costUsd !== undefined;
      costUsd += servedBy.costUsd ?? 0;
    },
    total: () => ({ model, inputTokens, outputTokens, turns, ...(costKnown && { costUsd }) }),
  };
}

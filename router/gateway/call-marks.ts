import type { CallOrigin } from './gateway-client.ts';

/** `litellm`: its body keys and headers too. `openai`: only what any OpenAI-shaped server knows. */
export type GatewayKind = 'litellm' | 'openai';

/**
 * Body keys that go with a call: who calls, for which task (`reference/litellm.md` 2.8), and that nobody but us
 * retries or falls back (5.7).
 */
export function bodyMarks(
  kind: GatewayKind,
  origin: CallOrigin,
): Readonly<Record<string, unknown>> {
  if (kind === 'openai') return {};
  const { agentId, taskId, queue, contextId } = origin;
  const tags = [`agent:${agentId}`, `task:${taskId}`, `queue:${queue}`];
  const facts = { agent: agentId, task_id: taskId, queue };
  return {
    tags,
    metadata: { ...facts, tags, session_id: contextId, trace_metadata: facts },
    disable_fallbacks: true,
    num_retries: 0,
  };
}

/** Headers of the same; values are ids of ours, so they are plain ASCII. */
export function headerMarks(
  kind: GatewayKind,
  origin: CallOrigin,
): Readonly<Record<string, string>> {
  const trace = origin.traceparent === undefined ? {} : { traceparent: origin.traceparent };
  if (kind === 'openai') return trace;
  const { agentId, taskId, queue } = origin;
  return {
    ...trace,
    'x-litellm-trace-id': taskId,
    'x-litellm-spend-logs-metadata': JSON.stringify({ agent: agentId, task_id: taskId, queue }),
  };
}

import { limits } from '../../fabric/domain/limits.ts';
import type { Usage } from '../../fabric/domain/task.ts';
import type { Log } from '../../fabric/ports/log.ts';
import type { Run, RunEnd } from '../../fabric/ports/run-task.ts';
import type {
  ChatAnswer,
  ChatMessage,
  GatewayClient,
} from '../../router/gateway/gateway-client.ts';
import { callModel, type ModelCallDeps } from '../../router/model-call.ts';
import type { ModelCandidate } from '../../router/model-candidate.ts';
import { callerOf } from './backbone.ts';
import type { MeshTools } from './mesh-tools.ts';
import { endOfFailure, isIncident } from './model-failure.ts';
import { tokensIn } from './model-prompt.ts';
import { usageSum } from './model-usage.ts';

export interface ModelTurns extends ModelCallDeps {
  readonly run: Run;
  readonly model: ModelCandidate;
  readonly gateway: GatewayClient;
  readonly tools: MeshTools;
  readonly maxOutputTokens?: number;
  readonly timeoutMs: number;
  readonly log: Log;
}

/** The answer a run ends with, or how else it ended. */
export type TurnsEnd =
  | { readonly kind: 'answered'; readonly text: string; readonly usage: Usage }
  | { readonly kind: 'ended'; readonly end: RunEnd };

const ended = (end: RunEnd): TurnsEnd => ({ kind: 'ended', end });
const failed = (reason: string): TurnsEnd => ended({ kind: 'failed', reason, retryable: false });

/**
 * Calls the model until it answers without wanting a tool, at most `limits.toolLoopTurns` times. An empty
 * or cut answer is never an answer.
 */
export async function takeTurns(
  turns: ModelTurns,
  prompt: readonly ChatMessage[],
  signal: AbortSignal,
): Promise<TurnsEnd> {
  const { tools, model } = turns;
  const messages = [...prompt];
  const usage = usageSum(model.gatewayModel);
  let empty = 0;
  for (let turn = 1; turn <= limits.toolLoopTurns; turn += 1) {
    const answer = await callOnce(turns, messages, signal);
    if (!answer.ok) {
      report(turns, answer);
      return ended(endOfFailure(answer));
    }
    usage.add(answer);
    if (answer.toolCalls.length === 0) {
      const text = answer.text.trim();
      const fault = faultOf(answer);
      if (fault !== undefined) return fault;
      if (text !== '') return { kind: 'answered', text, usage: usage.total() };
      empty += 1;
      if (empty > 1) return failed('the model answered with nothing, twice');
      continue;
    }
    messages.push({ role: 'assistant', content: answer.text, toolCalls: answer.toolCalls });
    for (const call of answer.toolCalls) {
      const end = await tools.use(call, signal);
      if (signal.aborted) return ended({ kind: 'stopped' });
      if (end.kind === 'asked') return ended({ kind: 'asked', question: end.question });
      messages.push({ role: 'tool', toolCallId: call.id, content: end.content });
    }
  }
  return failed(`the model called tools ${limits.toolLoopTurns} times and gave no answer`);
}

async function callOnce(turns: ModelTurns, messages: readonly ChatMessage[], signal: AbortSignal) {
  const { run, model, tools, maxOutputTokens } = turns;
  const { state } = run;
  const offers = model.tools ? tools.offers : [];
  const prompted = messages.reduce((sum, { content }) => sum + tokensIn(content), 0);
  return callModel(
    turns,
    {
      model,
      gateway: turns.gateway,
      caller: callerOf(run),
      estimatedTokens: prompted + (maxOutputTokens ?? 1_024),
      onText: (piece) => run.chunk(piece),
      request: {
        messages,
        ...(offers.length > 0 && { tools: offers }),
        ...(maxOutputTokens !== undefined && { maxTokens: maxOutputTokens }),
        origin: {
          agentId: run.agentId,
          taskId: state.taskId,
          queue: state.queue,
          contextId: state.contextId,
        },
        timeoutMs: turns.timeoutMs,
      },
    },
    signal,
  );
}

/** Ends that have text and yet are no whole answer. */
function faultOf({ finish }: ChatAnswer): TurnsEnd | undefined {
  if (finish === 'length') {
    return failed('the answer was cut at the output limit of the model');
  }
  if (finish !== 'content_filter') return undefined;
  const message = 'The provider’s content policy held the answer back.';
  return ended(endOfFailure({ ...held, message }));
}

const held = { ok: false, class: 'refused', retry: 'never', notSent: false } as const;

function report(
  { log, run, model }: ModelTurns,
  failure: Parameters<typeof endOfFailure>[0],
): void {
  const about = {
    taskId: run.state.taskId,
    agent: run.agentId,
    model: model.gatewayModel,
    class: failure.class,
    reason: failure.message,
  };
  if (isIncident(failure)) log.error('model.incident', about);
  else log.warn('model.failed', about);
}

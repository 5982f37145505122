import type { Card } from '../../cards/schema/card.ts';
import { limits } from '../../fabric/domain/limits.ts';
import type { Log } from '../../fabric/ports/log.ts';
import type { Run, RunEnd, RunTask } from '../../fabric/ports/run-task.ts';
import type { TaskBoard } from '../../fabric/ports/task-board.ts';
import type { GatewayClient } from '../../router/gateway/gateway-client.ts';
import type { ModelCallDeps } from '../../router/model-call.ts';
import type { ModelCandidate } from '../../router/model-candidate.ts';
import type { RouterSnapshot } from '../../router/router-snapshot.ts';
import type { CallerClass } from '../../fabric/ports/availability.ts';
import { backboneFor, callerOf } from './backbone.ts';
import { resolveContextRefs, type ContextRefDeps, type ResolvedRef } from './context-refs.ts';
import { earlierTurns } from './conversation.ts';
import { meshTools, type MeshToolDeps, type MeshTools } from './mesh-tools.ts';
import { promptFor } from './model-prompt.ts';
import { takeTurns } from './model-turns.ts';
import { summaryOf } from './outcome-text.ts';
import { untrustedBlocks } from './untrusted-text.ts';

export interface ModelRuntimeDeps extends ModelCallDeps, MeshToolDeps, ContextRefDeps {
  readonly board: Pick<TaskBoard, 'read' | 'find' | 'resolve'>;
  readonly log: Log;
  /** The Markdown that the agent's Card names, of the set that is served now. */
  persona(agentId: string): string | undefined;
  snapshot(caller: CallerClass): RouterSnapshot;
  /** With the agent's own key; undefined where no gateway is configured. */
  gatewayOf(agentId: string): GatewayClient | undefined;
}

/** Share of the model's context that prompt and history may fill; the rest is for answer and tools. */
const promptShare = 0.6;
/** Longest single call; a provider that is silent for longer is not thinking any more. */
const callTimeoutMs = 10 * 60_000;

/**
 * A persona on a model: its text as system prompt, what was said before, the task, what its pointers
 * stand for, and the tools its Card lists. A wall parks, a doubt asks, and nothing empty is ever done.
 */
export function modelRuntime(card: Card, deps: ModelRuntimeDeps): RunTask {
  return async (run, signal) => {
    const gateway = deps.gatewayOf(card.id);
    if (gateway === undefined) return parked('no gateway configured');
    const backbone = backboneFor(card, run, deps.snapshot(callerOf(run)), deps.clock.nowMs());
    if (backbone.kind === 'none') return parked(backbone.reason, backbone.untilMs);
    const refs = await resolveContextRefs(deps, run.state);
    const missing = missingQuestion(run, refs);
    if (missing !== undefined) return missing;
    if (signal.aborted) return { kind: 'stopped' };
    const { model } = backbone;
    const blocks = untrustedBlocks(deps.random.hex(8));
    const tools = meshTools(card, run, deps, blocks);
    const persona = deps.persona(card.id);
    const prompt = promptFor({
      state: run.state,
      ...(persona !== undefined && { persona }),
      turns: await earlierTurns(deps, run.state, limits.historyMessages),
      refs,
      children: await childrenOf(deps, run),
      blocks,
      roomTokens: Math.floor(model.contextTokens * promptShare),
    });
    const bound = card.model?.maxOutputTokens;
    const end = await takeTurns(
      {
        ...deps,
        run,
        model,
        gateway,
        tools,
        timeoutMs: Math.min(card.timeouts.runMs, callTimeoutMs),
        ...(bound !== undefined && { maxOutputTokens: bound }),
      },
      prompt,
      signal,
    );
    return end.kind === 'ended' ? end.end : done(run, model, tools, end);
  };
}

const parked = (reason: string, untilMs?: number): RunEnd => ({
  kind: 'parked',
  reason,
  ...(untilMs !== undefined && { untilMs }),
});

async function done(
  run: Run,
  { gatewayModel }: ModelCandidate,
  tools: MeshTools,
  { text, usage }: { readonly text: string; readonly usage: object },
): Promise<RunEnd> {
  const answer = await run.artifact('answer', 'text/markdown', text);
  const unawaited = tools.unawaited();
  const children =
    unawaited.length === 0
      ? []
      : [
          await run.artifact(
            'children',
            'text/plain',
            `Submitted, not awaited:\n${unawaited.join('\n')}`,
          ),
        ];
  return {
    kind: 'done',
    outcome: {
      summary: summaryOf(text),
      artifacts: [answer, ...children],
      usage: { ...usage, model: gatewayModel },
      ...(run.state.task.tainted && { tainted: true }),
    },
  };
}

/**
 * A pointer that leads nowhere is asked about once; answered, the run goes on and the model is told that
 * it can't be had.
 */
function missingQuestion({ state }: Run, refs: readonly ResolvedRef[]): RunEnd | undefined {
  const missing = refs.filter((ref) => ref.kind === 'unresolvable');
  if (missing.length === 0) return undefined;
  const lines = missing.map(({ ref, reason }) => `- ${ref}: ${reason}`);
  const text =
    `This task names material that can't be had here:\n${lines.join('\n')}\n` +
    'Give what matters of it as text, or say that the work should go on without it.';
  const question = text.slice(0, limits.answerChars);
  if (state.decisions.some((decision) => decision.text === question)) return undefined;
  return {
    kind: 'asked',
    question: { kind: 'question', to: 'submitter', text: question, options: [] },
  };
}

/** What an earlier run of the same task has set going, so that it is awaited and not asked for again. */
async function childrenOf({ board }: ModelRuntimeDeps, { state }: Run): Promise<readonly string[]> {
  const { states } = await board.find({ parent: state.taskId, limit: 30 });
  return states
    .filter(({ task }) => task.provenance.relation === 'child')
    .sort((one, other) => one.submittedAtMs - other.submittedAtMs)
    .map(({ taskId, agentId, phase, task }) => {
      const title = task.intent.title.slice(0, 120);
      return `- ${taskId} to ${agentId ?? 'the router'} (${phase}): ${JSON.stringify(title)}`;
    });
}

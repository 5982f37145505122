import { z } from 'zod';
import type { Card } from '../../cards/schema/card.ts';
import { counted } from '../../fabric/domain/counted.ts';
import { limits } from '../../fabric/domain/limits.ts';
import { AgentId, TaskId } from '../../fabric/domain/ids.ts';
import { Target } from '../../fabric/domain/task.ts';
import type { AskedByRun, Run } from '../../fabric/ports/run-task.ts';
import type { TaskBoard } from '../../fabric/ports/task-board.ts';
import type { ToolCall, ToolOffer } from '../../router/gateway/gateway-client.ts';
import { childMessageId, type CallAnswer, type MeshCaller } from '../calls/mesh-caller.ts';
import type { UntrustedBlocks } from './untrusted-text.ts';

const text = z.string().trim().min(1);

const Submit = z.union([
  z.strictObject({ agent: AgentId, text, wait: z.boolean().default(true) }),
  z.strictObject({
    target: z.union([z.literal('auto'), Target]),
    text,
    wait: z.boolean().default(true),
  }),
]);
type Submit = z.infer<typeof Submit>;

const Await = z.strictObject({ taskId: TaskId });

const Ask = z.strictObject({
  question: text.max(limits.answerChars),
  options: z.array(text.max(200)).min(2).max(limits.questionOptions).optional(),
});

const served = {
  submit: {
    schema: Submit,
    description:
      'Gives work to another agent and, unless wait is false, returns when that agent has finished or asks ' +
      'something. Give agent (an id), or target for the router: "auto", or constraints such as ' +
      '{"kind":"constraints","need":{"tier":"large"}}.',
  },
  await: {
    schema: Await,
    description: 'Waits for a task that you submitted with wait=false, and returns its result.',
  },
  ask: {
    schema: Ask,
    description:
      'Ends this run with a question to whoever gave you the task. Only for what you can neither know nor ' +
      'decide. You go on with the answer in a new run.',
  },
} as const;
type ServedTool = keyof typeof served;

const isServed = (name: string): name is ServedTool => Object.hasOwn(served, name);

/** What a model is offered: of the tools this build serves, those its Card lists and can use. */
function offeredTools(card: Card): readonly ToolOffer[] {
  return card.tools
    .filter(isServed)
    .filter((name) => name === 'ask' || card.mayCall.length > 0)
    .map((name) => {
      const { schema, description } = served[name];
      return { name, description, parameters: z.toJSONSchema(schema, { io: 'input' }) };
    });
}

export interface MeshToolDeps {
  readonly calls: MeshCaller;
  readonly board: Pick<TaskBoard, 'read'>;
  /** The agent that targets are put to; undefined without one. */
  routerId(): string | undefined;
}

export type ToolEnd =
  /** What the model is told; a refusal too. */
  | { readonly kind: 'told'; readonly content: string }
  | { readonly kind: 'asked'; readonly question: AskedByRun };

export interface MeshTools {
  readonly offers: readonly ToolOffer[];
  /** One at a time: that keeps a run to one running await. Never rejects for what the model wrote. */
  use(call: ToolCall, signal: AbortSignal): Promise<ToolEnd>;
  /** Children that nobody waited for, one line each. */
  unawaited(): readonly string[];
}

interface Child {
  readonly taskId: string;
  readonly to: string;
}

/** Longest text of a child's result that goes back to the model. */
const resultChars = 16_000;

export function meshTools(
  card: Card,
  run: Run,
  deps: MeshToolDeps,
  blocks: UntrustedBlocks,
): MeshTools {
  const offers = offeredTools(card);
  const open = new Map<string, Child>();
  // The attempt plays no part: a run that is repeated names the same children.
  let ordinal = 0;
  const continuation = run.state.decisions.length;
  const path = (to: string) => {
    const bound = { taskId: run.state.taskId, fence: run.fence };
    return { from: card.id, to, run: bound };
  };

  const submit = async (wish: Submit, signal: AbortSignal): Promise<string> => {
    const messageId = childMessageId(run.state.taskId, ordinal, continuation);
    ordinal += 1;
    const to = 'agent' in wish ? wish.agent : deps.routerId();
    if (to === undefined)
      return told({ refused: 'NO_TARGET', message: 'No router is registered.' });
    run.progress(`Asks ${to}.`);
    const extension = 'agent' in wish ? {} : { submit: { target: wish.target } };
    const sending = { ...path(to), text: wish.text, messageId, wait: wish.wait, ...extension };
    const answer = await deps.calls.send(sending, signal);
    if (answer.ok && !answer.task.isAtRest)
      open.set(answer.task.taskId, { taskId: answer.task.taskId, to });
    return answerText(answer, to, blocks);
  };

  const awaitChild = async (taskId: TaskId, signal: AbortSignal): Promise<string> => {
    const to = open.get(taskId)?.to ?? (await childAgent(taskId, run, deps));
    if (to === undefined) {
      return told({ refused: 'NOT_FOUND', message: `${taskId} is no task that you submitted.` });
    }
    run.progress(`Waits for ${to}.`);
    const answer = await deps.calls.await({ ...path(to), taskId }, signal);
    if (answer.ok && answer.task.isAtRest) open.delete(taskId);
    return answerText(answer, to, blocks);
  };

  const use: MeshTools['use'] = async (call, signal) => {
    if (!offers.some(({ name }) => name === call.name) || !isServed(call.name)) {
      const message = `There is no tool ${JSON.stringify(call.name.slice(0, 64))}. You have: ${offers.map(({ name }) => name).join(', ') || 'none'}.`;
      return { kind: 'told', content: told({ refused: 'NO_TOOL', message }) };
    }
    const read = served[call.name].schema.safeParse(parsedOf(call.arguments));
    if (!read.success) return { kind: 'told', content: badArguments(call.name, read.error) };
    switch (call.name) {
      case 'submit':
        return { kind: 'told', content: await submit(read.data as Submit, signal) };
      case 'await': {
        const { taskId } = read.data as z.infer<typeof Await>;
        return { kind: 'told', content: await awaitChild(taskId, signal) };
      }
      case 'ask':
        return { kind: 'asked', question: questionOf(read.data as z.infer<typeof Ask>) };
    }
  };
  return { offers, use, unawaited: () => [...open.values()].map(childLine) };
}

const childLine = ({ taskId, to }: Child): string => `${taskId} to ${to}`;

/** Where a child of an earlier run of this task waits; undefined for anything that is no child of it. */
async function childAgent(
  taskId: TaskId,
  run: Run,
  deps: MeshToolDeps,
): Promise<string | undefined> {
  const child = (await deps.board.read(taskId))?.state;
  if (child?.task.provenance.parent !== run.state.taskId) return undefined;
  return child.task.target.kind === 'agent' ? child.task.target.agentId : deps.routerId();
}

const questionOf = ({ question, options = [] }: z.infer<typeof Ask>): AskedByRun => ({
  kind: 'question',
  to: 'submitter',
  text: question,
  options,
});

function badArguments(name: ServedTool, { issues }: z.ZodError): string {
  const [issue] = issues;
  const at = issue?.path.join('.') || 'arguments';
  const message = `${name}: ${at} does not have its shape. Call it again as its description says.`;
  return told({ refused: 'VALIDATION_ERROR', message });
}

function parsedOf(json: string): unknown {
  try {
    return JSON.parse(json === '' ? '{}' : json);
  } catch {
    return undefined;
  }
}

const told = (fields: Readonly<Record<string, unknown>>): string => JSON.stringify(fields);

/**
 * A child that asks or waits to be verified is told of; nothing is answered for the model. Only words
 * stand outside the block: sentences, options and whatever else the other side wrote are inside it.
 */
function answerText(answer: CallAnswer, agent: string, blocks: UntrustedBlocks): string {
  if (!answer.ok) {
    const { reason, message, facts } = answer;
    const head = told({ refused: 'REFUSED', ...wordsOf({ ...facts, refused: reason }) });
    const sentences = Object.entries(facts).filter(([, value]) => !isWord(value));
    const lines = sentences.map(([name, value]) => `${name}: ${value}`);
    return withBlock(head, blocks, agent, [message, ...lines]);
  }
  const { taskId, state, phase, ask, said, options = [], waits, result } = answer.task;
  const head = told({
    ...wordsOf({ taskId }),
    ...{ agent, state },
    ...wordsOf({ phase, asks: ask }),
  });
  return withBlock(head, blocks, isWord(taskId) ? `${agent}, task ${taskId}` : agent, [
    said,
    options.length === 0 ? undefined : `Options: ${options.join(' | ')}`,
    waits === undefined ? undefined : `Waits: ${waits}`,
    result,
  ]);
}

function withBlock(
  head: string,
  blocks: UntrustedBlocks,
  from: string,
  said: readonly (string | undefined)[],
): string {
  const parts = said.filter((part) => part !== undefined && part !== '');
  return parts.length === 0 ? head : `${head}\n${blocks.block(from, cut(parts.join('\n\n')))}`;
}

/** An id or a name: too short and plain to tell a model what to do. */
const isWord = (text: string | undefined): text is string =>
  text !== undefined && /^[\w.:-]{1,64}$/.test(text);

const wordsOf = (facts: Readonly<Record<string, string | undefined>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(facts).filter(
      (entry): entry is [string, string] => isWord(entry[0]) && isWord(entry[1]),
    ),
  );

function cut(said: string): string {
  if (said.length <= resultChars) return said;
  return `${said.slice(0, resultChars)}\n… shortened; ${counted(said.length - resultChars, 'character')} more.`;
}

import type { TaskState } from '../../fabric/domain/state.ts';
import type { ChatMessage } from '../../router/gateway/gateway-client.ts';
import type { ResolvedRef } from './context-refs.ts';
import type { Turn } from './conversation.ts';
import { ownerOf } from './task-owner.ts';
import { wishOf } from './task-text.ts';
import type { UntrustedBlocks } from './untrusted-text.ts';

export interface PromptFacts {
  readonly state: TaskState;
  /** The persona's Markdown; absent for a bare model. */
  readonly persona?: string;
  readonly turns: readonly Turn[];
  readonly refs: readonly ResolvedRef[];
  /** Tasks that an earlier run of this one has submitted, one line each. */
  readonly children: readonly string[];
  readonly blocks: UntrustedBlocks;
  /** Room for all of it, tokens; history goes first, eldest first. */
  readonly roomTokens: number;
}

/** A cautious guess without a tokenizer: English has about 4 bytes a token, code and other tongues fewer. */
export const tokensIn = (text: string): number => Math.ceil(Buffer.byteLength(text) / 3);

/** The messages a run starts with. Text that is not its submitter's own stands in untrusted blocks. */
export function promptFor(facts: PromptFacts): readonly ChatMessage[] {
  const { state, blocks } = facts;
  const fixed: readonly ChatMessage[] = [
    { role: 'user', content: wishMessage(facts) },
    ...answersSoFar(state),
  ];
  const head = [facts.persona?.trim(), criteria(state)];
  const room = facts.roomTokens - tokensIn(head.join()) - tokensIn(blocks.rule) - sizeOf(fixed);
  const messages = [...historyWithin(facts, room), ...fixed];
  const hasMaterial = messages.some(({ content }) => content.includes('<<<MATERIAL '));
  const system = [...head, hasMaterial ? blocks.rule : undefined]
    .filter((text) => text !== undefined && text !== '')
    .join('\n\n');
  return system === '' ? messages : [{ role: 'system', content: system }, ...messages];
}

const sizeOf = (messages: readonly ChatMessage[]): number =>
  messages.reduce((sum, { content }) => sum + tokensIn(content), 0);

/** Whether what the submitter says is the task itself, or only material for it. */
function isOwnWord({ task }: TaskState): boolean {
  const { submitterTrust: trust } = task.provenance;
  return !task.tainted && (trust === 'human' || trust === 'trusted');
}

const criteria = ({ task: { acceptance } }: TaskState): string | undefined =>
  acceptance === undefined ? undefined : `The answer is accepted when:\n${acceptance}`;

function historyWithin(
  { turns, state, blocks }: PromptFacts,
  roomTokens: number,
): readonly ChatMessage[] {
  const kept: ChatMessage[] = [];
  let left = roomTokens;
  for (const { asked, answered } of [...turns].reverse()) {
    const content = isOwnWord(state) ? asked : blocks.block('an earlier message', asked);
    left -= tokensIn(content) + tokensIn(answered);
    if (left < 0) break;
    kept.unshift({ role: 'user', content }, { role: 'assistant', content: answered });
  }
  return kept;
}

function wishMessage({ state, refs, children, blocks }: PromptFacts): string {
  const { submitter } = state.task.provenance;
  const wish = wishOf(state);
  const notes = state.notes.map(({ by, text }) =>
    by === submitter || by === ownerOf(state)
      ? `Added later:\n${text}`
      : blocks.block(`${by}, a follow-up message`, text),
  );
  const earlier =
    children.length === 0
      ? []
      : [`An earlier run of this task has already submitted:\n${children.join('\n')}`];
  return [
    isOwnWord(state)
      ? wish
      : `Do what this task asks for, within your bounds.\n${blocks.block(submitter, wish)}`,
    ...notes,
    ...refs.map((ref) => materialOf(ref, blocks)),
    ...earlier,
  ].join('\n\n');
}

function materialOf(ref: ResolvedRef, blocks: UntrustedBlocks): string {
  switch (ref.kind) {
    case 'text':
      return blocks.block(ref.ref, ref.text);
    case 'listed':
      return `Named, not opened: ${ref.ref} (${ref.note}).`;
    case 'unresolvable':
      return `Named, but it can't be had: ${ref.ref} (${ref.reason}).`;
  }
}

/** Questions of earlier runs and what was answered, as the conversation that it was. */
function answersSoFar({ decisions }: TaskState): readonly ChatMessage[] {
  return decisions
    .filter(({ kind }) => kind === 'question' || kind === 'gate')
    .flatMap(({ text, value, note }): ChatMessage[] => [
      { role: 'assistant', content: text },
      { role: 'user', content: note === undefined ? value : `${value}\n\n${note}` },
    ]);
}

import { z } from 'zod';
import { limits } from '../../fabric/domain/limits.ts';
import type { Run } from '../../fabric/ports/run-task.ts';
import { parseStrictJson } from './strict-json.ts';
import { wishOf } from './task-text.ts';

/** What a runner may say about its run (`reference/shapes.md`, runner packet). */
const runnerStatuses = [
  'completed',
  'scheduled',
  'waiting_event',
  'waiting_user',
  'needs_review',
] as const;

/** No intake source is served yet: a runner that waited for an event would wait for ever. */
const servedStatuses = runnerStatuses.filter((status) => status !== 'waiting_event');

/** What a runner reads on stdin. Snake case, as the contract has it. */
export interface RunnerPacket {
  readonly version: 1;
  readonly run_id: string;
  readonly goal: string;
  readonly completion_criteria: string;
  readonly authorization: { readonly effects: string; readonly tainted: boolean };
  /** What was said since: answers to its questions and follow-up messages, eldest first. */
  readonly context: string;
  readonly sources: readonly { readonly id: string; readonly reference: string }[];
  /** The newest answer to a question of an earlier run. */
  readonly decision: { readonly decision_id: string; readonly value: string } | null;
  /** Only for a task that acts outward: then the result must say what became of it. */
  readonly action?: {
    readonly id: string;
    readonly intent: { readonly title: string };
    readonly receipt_id: string;
  };
  readonly allowed_status: readonly string[];
}

/** Names one run for good: the task and its claim. */
export const runIdOf = ({ state, fence }: Pick<Run, 'state' | 'fence'>): string =>
  `${state.taskId}-v${fence}`;

export function packetFor(run: Run): RunnerPacket {
  const { state } = run;
  const { task } = state;
  const { title } = task.intent;
  const answer = state.decisions.at(-1);
  return {
    version: 1,
    run_id: runIdOf(run),
    goal: wishOf(state),
    completion_criteria: task.acceptance ?? '',
    authorization: { effects: task.effects, tainted: task.tainted },
    context: contextOf(run),
    sources: task.contextRefs.map((reference, index) => ({ id: `s${index + 1}`, reference })),
    decision: answer ? { decision_id: answer.decisionId, value: answer.value } : null,
    ...(task.effects === 'external' && {
      action: { id: state.taskId, intent: { title }, receipt_id: runIdOf(run) },
    }),
    allowed_status: servedStatuses,
  };
}

function contextOf({ state }: Run): string {
  const said = [
    ...state.decisions.map(({ atMs, by, text, value }) => ({
      atMs,
      text: `Asked: ${text}\n${by} answered: ${value}`,
    })),
    ...state.notes.map(({ atMs, by, text }) => ({ atMs, text: `${by} wrote: ${text}` })),
  ];
  return said
    .sort((one, other) => one.atMs - other.atMs)
    .map(({ text }) => text)
    .join('\n\n');
}

const text = z.string().max(limits.runnerBytes);

const Result = z.strictObject({
  run_id: z.string(),
  status: z.enum(runnerStatuses),
  summary: text.refine((summary) => summary.trim() !== '', 'empty'),
  /** RFC 3339, in the future. */
  wake_at: z.iso.datetime({ offset: true }).optional(),
  event_id: z.string().min(1).max(128).optional(),
  decision_prompt: text.min(1).optional(),
  action_status: z.enum(['not_started', 'performed', 'uncertain']).optional(),
  receipt_id: z.string().min(1).max(128).optional(),
  /** Diagnostic, never published. */
  review_note: text.optional(),
});
export type RunnerResult = z.infer<typeof Result>;

export type RunnerReading =
  | { readonly ok: true; readonly result: RunnerResult }
  /** Which rule of the contract it breaks; no text of the runner in it. */
  | { readonly ok: false; readonly reason: string };

/**
 * A runner's whole stdout as its result: exactly one strict object with this run's id, each conditional
 * key exactly where its status asks for it.
 */
export function readRunnerResult(
  stdout: string,
  packet: RunnerPacket,
  nowMs: number,
): RunnerReading {
  const json = parseStrictJson(stdout);
  if (!json.ok) return malformed(`its output is not one strict JSON object: ${json.reason}`);
  const parsed = Result.safeParse(json.value);
  if (!parsed.success) return malformed(problemOf(parsed.error));
  const broken = brokenRule(parsed.data, packet, nowMs);
  return broken === undefined ? { ok: true, result: parsed.data } : malformed(broken);
}

const malformed = (reason: string): RunnerReading => ({ ok: false, reason });

function problemOf({ issues }: z.ZodError): string {
  const [issue] = issues;
  const path = issue?.path.join('.') ?? '';
  const keys =
    issue?.code === 'unrecognized_keys' ? 'has keys that the contract does not know' : '';
  return `its result ${path === '' ? '' : `field ${path} `}${keys || 'does not have its shape'}`;
}

function brokenRule(result: RunnerResult, packet: RunnerPacket, nowMs: number): string | undefined {
  if (result.run_id !== packet.run_id) return 'its run_id is another run’s';
  if (!packet.allowed_status.includes(result.status)) return 'its status is not allowed';
  const conditional = [
    ['wake_at', 'scheduled'],
    ['event_id', 'waiting_event'],
    ['decision_prompt', 'waiting_user'],
  ] as const;
  for (const [key, status] of conditional) {
    if ((result[key] !== undefined) === (result.status === status)) continue;
    return result.status === status ? `${status} needs ${key}` : `${key} is only for ${status}`;
  }
  if (result.wake_at !== undefined && Date.parse(result.wake_at) <= nowMs) {
    return 'wake_at is not in the future';
  }
  return brokenAction(result, packet);
}

function brokenAction(result: RunnerResult, { action }: RunnerPacket): string | undefined {
  const { action_status: acted, receipt_id: receipt, status } = result;
  if (action === undefined) {
    const said = acted !== undefined || receipt !== undefined;
    return said ? 'action_status and receipt_id are only for a packet with an action' : undefined;
  }
  if (acted === undefined) return 'a packet with an action needs action_status';
  if (acted === 'uncertain' && status !== 'needs_review') {
    return 'action_status uncertain is only for needs_review';
  }
  if (acted === 'performed' && receipt !== action.receipt_id) {
    return 'receipt_id is not the one of its action';
  }
  return acted !== 'performed' && receipt !== undefined
    ? 'receipt_id is only for action_status performed'
    : undefined;
}

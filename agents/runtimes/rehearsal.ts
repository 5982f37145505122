import type { Card } from '../../cards/schema/card.ts';
import type { Clock } from '../../fabric/ports/clock.ts';
import type { Run, RunEnd, RunTask } from '../../fabric/ports/run-task.ts';
import { childMessageId, type MeshCaller } from '../calls/mesh-caller.ts';
import { summaryOf } from './outcome-text.ts';
import { wishOf } from './task-text.ts';

export interface RehearsalDeps {
  readonly clock: Clock;
  readonly calls: MeshCaller;
}

type Line = NonNullable<Card['rehearsal']>['script'][number];

/** Stands before everything a scripted agent says, so that nobody takes it for a model's word. */
const rehearsalMark = '[rehearsal]';

/**
 * Plays a flow from the Card's script, without a model (`DESIGN.md` 9, offline): the first line whose
 * `when` occurs in the message decides. The same task always gets the same answer.
 */
export function rehearsalRuntime(card: Card, deps: RehearsalDeps): RunTask {
  return async (run, signal) => {
    const isStopped = () => signal.aborted;
    const line = lineFor(card, wishOf(run.state));
    if (line === undefined) {
      const reason = 'no line of its script fits; add one without "when" to its Card';
      return { kind: 'failed', reason, retryable: false };
    }
    if (line.delay !== undefined) {
      run.progress(
        `${rehearsalMark} Takes ${Math.round(line.delay / 1_000)} s, as its script says.`,
      );
      await deps.clock.sleep(line.delay, signal);
    }
    if (isStopped()) return { kind: 'stopped' };
    const answered = run.state.decisions.at(-1);
    if (line.ask !== undefined && answered === undefined) return ask(line.ask);
    const heard = line.submit && (await submitted(card, run, deps, line.submit, signal));
    if (isStopped()) return { kind: 'stopped' };
    return done(run, line, [answered && `You answered: ${answered.value}`, heard]);
  };
}

function lineFor(card: Card, message: string): Line | undefined {
  const heard = message.toLowerCase();
  return card.rehearsal?.script.find(
    ({ when }) => when === undefined || heard.includes(when.toLowerCase()),
  );
}

function ask(question: string): RunEnd {
  const text = `${rehearsalMark} ${question}`;
  return { kind: 'asked', question: { kind: 'question', to: 'submitter', text, options: [] } };
}

async function submitted(
  card: Card,
  run: Run,
  { calls }: RehearsalDeps,
  { agent, text }: NonNullable<Line['submit']>,
  signal: AbortSignal,
): Promise<string> {
  run.progress(`${rehearsalMark} Asks ${agent}.`);
  const { taskId } = run.state;
  const answer = await calls.send(
    {
      from: card.id,
      to: agent,
      run: { taskId, fence: run.fence },
      text,
      messageId: childMessageId(taskId, 0),
      wait: true,
    },
    signal,
  );
  if (!answer.ok) return `${agent} was not reached (${answer.reason}): ${answer.message}`;
  const { task } = answer;
  const said = task.result === '' ? (task.said ?? 'nothing') : task.result;
  return `${agent} (task ${task.taskId}, ${task.phase ?? task.state}) said: ${said}`;
}

/** Streams word by word, as a model would. */
async function done(
  run: Run,
  { answer, ask: asked }: Line,
  more: readonly (string | undefined)[],
): Promise<RunEnd> {
  const own = answer ?? (asked === undefined ? 'Nothing to say here.' : 'Thank you.');
  const text = [`${rehearsalMark} ${own}`, ...more.filter((part) => part !== undefined)].join(
    '\n\n',
  );
  for (const piece of text.match(/\S+\s*/g) ?? []) run.chunk(piece);
  const artifact = await run.artifact('answer', 'text/plain', text);
  return { kind: 'done', outcome: { summary: summaryOf(text), artifacts: [artifact] } };
}

import type { Command } from 'commander';
import type { RunEnd } from '../../fabric/ports/run-task.ts';
import { change, eventOf } from '../../fabric/queue/change.ts';
import { releaseTask } from '../../fabric/queue/claim.ts';
import { finishRun } from '../../fabric/queue/finish.ts';
import { endedBefore } from '../ended-hold.ts';
import { heldTask, logWriterOf, type HoldOptions } from '../held-task.ts';
import type { MeshConnection } from '../mesh-connection.ts';
import type { Result, Run, Session } from '../session.ts';
import { atMsOf, parseWhen, type When } from '../text/points-in-time.ts';
import { standsAt, withHold } from './task-held-options.ts';
import { steer } from './task-steer.ts';

const group = 'Giving back:';

interface ReasonOptions extends HoldOptions {
  readonly reason: string;
}

/** `release`, `fail`, `park`, `escalate` and `deadletter`: every way to end a run without a result. */
export function defineGiveUp(command: Command, run: Run): void {
  const verb = (name: string, description: string, examples: string): Command =>
    withHold(command.command(name))
      .helpGroup(group)
      .description(description)
      .requiredOption('--reason <text>', 'why, for the log')
      .addHelpText('after', examples);
  const ends = (
    command: Command,
    end: (session: Session, options: ParkOptions) => RunEnd,
  ): void => {
    command.action((ref: string, options: ParkOptions) =>
      run(async (session) => {
        const mesh = await session.connect();
        const said = end(session, options);
        const before = await endedBefore(mesh, ref, options, said);
        if (before) return standsAt(before);
        const held = await heldTask(session, mesh, ref, options);
        return standsAt(await finishRun(logWriterOf(session, mesh), held, said));
      }),
    );
  };
  verb('release', 'hand it back unharmed; the attempt does not count', releaseExamples).action(
    (ref: string, options: ReasonOptions) =>
      run(async (session) => release(session, await session.connect(), ref, options)),
  );
  ends(
    verb('fail', 'it failed and may be tried again; the attempt counts', failExamples),
    (_session, { reason }) => ({
      kind: 'failed',
      reason,
      retryable: true,
    }),
  );
  ends(
    verb(
      'park',
      'it can’t go on for now: a quota, a window; no attempt counts',
      parkExamples,
    ).option('--until <when>', 'when it can: 2h, 2026-12-24T18:00Z', parseWhen),
    parkedBy,
  );
  ends(
    verb('escalate', 'it is beyond you: a person decides what next', escalateExamples),
    (_session, { reason }) => ({
      kind: 'failed',
      reason,
      retryable: false,
    }),
  );
  verb('deadletter', 'give it up; its holder or a person may', deadLetterExamples).action(
    (ref: string, options: ReasonOptions) =>
      run(async (session) => deadLetter(session, await session.connect(), ref, options)),
  );
}

async function release(
  session: Session,
  mesh: MeshConnection,
  ref: string,
  options: ReasonOptions,
): Promise<Result> {
  const { reason } = options;
  const before = await endedBefore(mesh, ref, options, { kind: 'released', reason });
  if (before) return standsAt(before);
  const held = await heldTask(session, mesh, ref, options);
  return standsAt(await releaseTask(logWriterOf(session, mesh), held, reason));
}

interface ParkOptions extends ReasonOptions {
  readonly until?: When;
}

function parkedBy({ clock }: Session, { reason, until }: ParkOptions): RunEnd {
  return {
    kind: 'parked',
    reason,
    ...(until === undefined ? {} : { untilMs: atMsOf(until, clock.nowMs()) }),
  };
}

const releaseExamples = `
Examples:
  mesh task release 1a2b3c4d --fence 2 --reason "this machine goes down"
  mesh task release 1a2b3c4d --agent claude-coder --reason "not for me"
`;
const failExamples = `
Examples:
  mesh task fail 1a2b3c4d --fence 2 --reason "the build timed out"
  mesh task fail 1a2b3c4d --agent claude-coder --reason "exit code 1"
`;
const parkExamples = `
Examples:
  mesh task park 1a2b3c4d --fence 2 --reason "the quota is used up" --until 5h
  mesh task park 1a2b3c4d --fence 2 --reason "the lab is closed" --until 2026-12-24T08:00Z
`;
const escalateExamples = `
Examples:
  mesh task escalate 1a2b3c4d --fence 2 --reason "needs a larger model"
  mesh task escalate 1a2b3c4d --agent claude-coder --reason "two designs are possible"
`;
const deadLetterExamples = `
Examples:
  mesh task deadletter 1a2b3c4d --fence 2 --reason "its repository is gone"
  mesh task deadletter 1a2b3c4d --reason "nobody wants it any more"
`;

/** Under a claim as its holder, who works for the mesh; without one as a person, who steers. */
async function deadLetter(
  session: Session,
  mesh: MeshConnection,
  ref: string,
  options: ReasonOptions,
): Promise<Result> {
  const { fence, agent, reason } = options;
  if (fence === undefined && agent === undefined) {
    return steer(session, mesh, ref, { do: 'deadletter', reason });
  }
  const { uid, by } = await heldTask(session, mesh, ref, options);
  const deps = logWriterOf(session, mesh);
  return standsAt(await change(deps, uid, () => eventOf(deps, by, 'deadLettered', { reason })));
}

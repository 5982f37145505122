import { Option, type Command } from 'commander';
import { BoardUnavailableError, MeshError } from '../../fabric/domain/errors.ts';
import { limits } from '../../fabric/domain/limits.ts';
import type { Held } from '../../fabric/queue/claim.ts';
import { holdOf, type Hold } from '../../fabric/queue/hold.ts';
import { exitCodes } from '../exit-codes.ts';
import { heldTask, take, takeBest, type HoldOptions, type TakeOptions } from '../held-task.ts';
import type { MeshConnection } from '../mesh-connection.ts';
import type { Result, Run, Session } from '../session.ts';
import { shortId, taskNamed } from '../task-ref.ts';
import { whyOf } from './show.ts';
import { withHold } from './task-held-options.ts';
import { parseSpan } from '../text/points-in-time.ts';
import { printable } from '../text/printable.ts';
import { relative, span } from '../text/relative-time.ts';

const pollMs = limits.pollMs;
const group = 'Taking:';

/** `next`, `take`, `renew` and `lease`: getting a task and keeping it. */
export function defineHold(command: Command, run: Run): void {
  const withTake = (verb: Command): Command =>
    verb
      .requiredOption('--agent <id>', 'the agent in whose name')
      .addOption(
        new Option('--lease <span>', 'nobody else takes it for so long without renew')
          .argParser(parseSpan)
          .default(limits.leaseMs, '2m'),
      );
  withTake(command.command('next'))
    .helpGroup(group)
    .description('take the best waiting task, begin it, print its text')
    .option('--queue <name>', "another queue than the agent's own")
    .option('--wait', 'wait until there is one')
    .addHelpText('after', nextExamples)
    .action((options: TakeOptions & { wait?: true }) =>
      run(async (session) => next(session, await session.connect(), options)),
    );
  withTake(command.command('take'))
    .helpGroup(group)
    .description('take this task, begin it, print its text')
    .argument('<task>')
    .addHelpText('after', takeExamples)
    .action((ref: string, options: TakeOptions) =>
      run(async (session) => takeNamed(session, await session.connect(), ref, options)),
    );
  withHold(command.command('renew'))
    .helpGroup(group)
    .description('renew the lease: you are still at it')
    .addHelpText('after', renewExamples)
    .action((ref: string, options: HoldOptions) =>
      run(async (session) => renew(session, await session.connect(), ref, options)),
    );
  command
    .command('lease')
    .helpGroup(group)
    .description('say who holds it, since when, and whether the holder is alive')
    .argument('<task>')
    .addHelpText('after', leaseExamples)
    .action((ref: string) => run(async (session) => lease(session, await session.connect(), ref)));
}

const nextExamples = `
Examples:
  mesh task next --agent claude-coder > task.md
  mesh task next --agent claude-coder --wait --lease 15m --json

The text goes to stdout byte for byte; task id and fence to stderr, or all of it as --json.
Exit code ${exitCodes.nothingToTake} when nothing waits.
`;
const takeExamples = `
Examples:
  mesh task take 1a2b3c4d --agent claude-coder
  mesh task take 1a2b3c4d --agent claude-coder --lease 30m --json
`;
const renewExamples = `
Examples:
  mesh task renew 1a2b3c4d --fence 2
  while sleep 40; do mesh task renew 1a2b3c4d --fence 2 --quiet || break; done &
`;
const leaseExamples = `
Examples:
  mesh task lease 1a2b3c4d
  mesh task lease 1a2b3c4d --json | jq .fence
`;

async function next(
  session: Session,
  mesh: MeshConnection,
  options: TakeOptions & { wait?: true },
): Promise<Result> {
  for (;;) {
    const held = await takeBest(session, mesh, options);
    if (held) return taken(session, held);
    if (!options.wait) {
      return {
        data: null,
        text: `Nothing waits for ${options.agent}.`,
        exitCode: exitCodes.nothingToTake,
      };
    }
    if (mesh.inProcess) {
      throw new BoardUnavailableError(
        `Nothing waits for ${options.agent}, and nothing comes while no mesh runs here. Start one with \`mesh up\`.`,
      );
    }
    session.progress(`waiting for a task for ${options.agent}`);
    await session.clock.sleep(pollMs, session.signal);
    session.signal.throwIfAborted();
  }
}

async function takeNamed(
  session: Session,
  mesh: MeshConnection,
  ref: string,
  options: TakeOptions,
): Promise<Result> {
  const { uid, state } = await taskNamed(mesh, ref);
  const held = await take(session, mesh, uid, options);
  if (held) return taken(session, held);
  throw new MeshError(
    'CLAIM_REJECTED',
    `Task ${shortId(uid)} can't be taken: it is ${state.phase}. See \`mesh why ${shortId(uid)}\`.`,
    { taskId: uid },
  );
}

/** The text exactly as it was submitted, for the loop; on a terminal without what could move its cursor. */
function taken({ terminal, globals }: Session, { uid, fence, leaseMs, state }: Held): Result {
  const { title, body } = state.task.intent;
  if (!globals.json) {
    terminal.err(
      `task ${shortId(uid)}, fence ${fence}, attempt ${state.attempts}, lease ${span(leaseMs)}: ${printable(title)}\n`,
    );
    terminal.out(terminal.outIsTty ? `${printable(body).trimEnd()}\n` : body);
  }
  const { acceptance, contextRefs, effects } = state.task;
  return {
    data: {
      taskId: uid,
      fence,
      attempt: state.attempts,
      leaseMs,
      contextId: state.contextId,
      title,
      text: body,
      ...(acceptance === undefined ? {} : { acceptance }),
      contextRefs,
      effects,
      ...(state.selection ? { selection: state.selection } : {}),
      decisions: state.decisions,
    },
    text: '',
  };
}

async function renew(
  session: Session,
  mesh: MeshConnection,
  ref: string,
  options: HoldOptions,
): Promise<Result> {
  const held = await heldTask(session, mesh, ref, options);
  await mesh.board.beat(held.uid, held.fence);
  const { cancelRequested, revokeTo } = held.state;
  const stop = cancelRequested || revokeTo !== undefined;
  const word = stop ? 'Stop: somebody asked for it. Then release it.' : 'Go on.';
  return {
    data: { taskId: held.uid, fence: held.fence, leaseMs: held.leaseMs, stop },
    text: `${shortId(held.uid)} is yours for ${span(held.leaseMs)} more. ${word}`,
  };
}

async function lease(session: Session, mesh: MeshConnection, ref: string): Promise<Result> {
  const log = await taskNamed(mesh, ref);
  const { uid, state } = log;
  const { claim } = state;
  if (claim === undefined) {
    return {
      data: { taskId: uid, held: false },
      text: `Nobody holds ${shortId(uid)}: it is ${state.phase}.`,
    };
  }
  const { holder, fence, leaseMs, claimedAtMs } = claim;
  const nowMs = session.clock.nowMs();
  const { hold = holdOf(log, nowMs, false) } = await whyOf(session, mesh, state);
  const { standing = 'alive', leaseEndsAtMs = claimedAtMs + leaseMs } = hold ?? {};
  const took = `${holder} took ${shortId(uid)} ${relative(claimedAtMs, nowMs)}`;
  return {
    data: {
      ...{ taskId: uid, held: true, holder, fence, leaseMs, claimedAtMs },
      ...{ standing, leaseEndsAtMs },
    },
    text: `${took} with fence ${fence} and a lease of ${span(leaseMs)}. ${lifeSign(standing, leaseEndsAtMs, nowMs)}`,
  };
}

/** Whether the holder is alive, as far as the mesh knows. */
function lifeSign(standing: Hold['standing'], leaseEndsAtMs: number, nowMs: number): string {
  switch (standing) {
    case 'alive':
      return `It is alive: the lease ends ${relative(leaseEndsAtMs, nowMs)} without a renewal.`;
    case 'lapsed':
      return `The lease ended ${relative(leaseEndsAtMs, nowMs)} and no renewal is known: a running mesh takes the task back.`;
    case 'dead':
      return 'Its process is dead: a running mesh takes the task back.';
  }
}

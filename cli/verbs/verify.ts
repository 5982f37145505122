import type { Command } from 'commander';
import { z } from 'zod';
import type { TaskId } from '../../fabric/domain/ids.ts';
import type { MeshConnection } from '../mesh-connection.ts';
import type { Result, Run, Session } from '../session.ts';
import { shortId, taskNamed, taskRpc } from '../task-ref.ts';
import { WireTask } from '../../agents/calls/wire-task.ts';

const examples = `
Examples:
  mesh verify 1a2b3c4d --note "checked against the plan"
  mesh verify 1a2b3c4d --refuse --note "risk 3 is missing" --rework

Who made a result never verifies it. --rework submits the work again, with your note.
`;

export interface VerifyOptions {
  readonly refuse?: true;
  readonly rework?: true;
  readonly note?: string;
  readonly commit?: string;
}

export function define(command: Command, run: Run): void {
  command
    .argument('<task>', 'its id, or 6 or more of its first digits')
    .option('--refuse', 'the result does not do; needs --note')
    .option('--rework', 'with --refuse: submit it again as a new task')
    .option('--note <text>', 'what you checked, or what is missing')
    .option('--commit <sha>', 'the commit you looked at')
    .addHelpText('after', examples)
    .action((ref: string, options: VerifyOptions) => {
      requireWhole(command, options);
      return run(async (session) => verify(session, await session.connect(), ref, options));
    });
}

/** A word of refusal that is only half said never becomes an acceptance, which nobody can take back. */
function requireWhole(command: Command, { refuse, rework, note }: VerifyOptions): void {
  if (rework && !refuse) {
    command.error('error: --rework needs --refuse: only a refused result is done again.');
  }
  if (refuse && !note) command.error('error: --refuse needs --note: say what is missing.');
}

/** Puts a verdict on record; also `mesh task close`. */
export async function verify(
  session: Session,
  mesh: MeshConnection,
  ref: string,
  { refuse, rework, note, commit }: VerifyOptions,
): Promise<Result> {
  const { uid, state } = await taskNamed(mesh, ref);
  const params = {
    taskId: uid,
    verdict: refuse ? 'refused' : 'verified',
    ...(note === undefined ? {} : { note }),
    ...(commit === undefined ? {} : { commit }),
    ...(rework ? { rework } : {}),
  };
  const call = { method: 'cardmesh/verify', params, signal: session.signal };
  const { task } = await taskRpc(mesh, state, call, z.looseObject({ task: WireTask }));
  if (!refuse) return { data: task, text: `${shortId(uid)} is verified and closed.` };
  const next = await reworkOf(mesh, uid);
  return { data: task, text: `${shortId(uid)} is refused.${next}` };
}

async function reworkOf({ board }: MeshConnection, uid: TaskId): Promise<string> {
  const links = (await board.read(uid))?.state.links ?? [];
  const rework = links.find(({ relation }) => relation === 'rework');
  return rework ? ` The rework is ${shortId(rework.taskId)}.` : '';
}

import { Option, type Command } from 'commander';
import { z } from 'zod';
import { InvalidValueError } from '../../fabric/domain/errors.ts';
import { priorityOption, scoreOption } from '../choice-option.ts';
import type { MeshConnection } from '../mesh-connection.ts';
import type { Result, Run, Session } from '../session.ts';
import { shortId, taskNamed, taskRpc } from '../task-ref.ts';
import { atMsOf, parseWhen, requireOrder, type When } from '../text/points-in-time.ts';
import { phaseOf, stateOf, WireTask } from '../../agents/calls/wire-task.ts';

const group = 'Steering, people only:';

/** What each says when it is done; "revoke" and "edit" have options of their own. */
const plain = {
  admit: ['let it be worked on', 'mesh task admit 1a2b3c4d'],
  pause: ['let nobody take it for now', 'mesh task pause 1a2b3c4d'],
  resume: ['end a pause', 'mesh task resume 1a2b3c4d'],
  archive: ['put it away', 'mesh task archive 1a2b3c4d'],
} as const;

interface EditOptions {
  readonly priority?: number;
  readonly score?: number;
  readonly deadline?: When | false;
  readonly notBefore?: When | false;
}

interface ArrivalOptions {
  readonly notice: string;
  readonly receipt: string;
  readonly queueReceipt?: string;
}

const withArrival = (command: Command): Command =>
  command
    .requiredOption('--notice <id>', 'which one; its id is in the notice and in mesh why')
    .requiredOption('--receipt <id>', 'what proves that it came')
    .option('--queue-receipt <id>', 'what its transport called it, where that is on record');

/** `admit`, `pause`, `resume`, `archive`, `revoke`, `received` and `edit`: what a person does with a task by hand. */
export function defineSteer(command: Command, run: Run): void {
  const verb = (name: string, description: string, examples: readonly string[]): Command =>
    command
      .command(name)
      .helpGroup(group)
      .description(description)
      .argument('<task>', 'its id, or 6 or more of its first digits')
      .addHelpText('after', `\nExamples:\n${examples.map((one) => `  ${one}\n`).join('')}`);
  for (const [name, [description, example]] of Object.entries(plain)) {
    verb(name, description, [example, `${example} --json`]).action((ref: string) =>
      run(async (session) => steer(session, await session.connect(), ref, { do: name })),
    );
  }
  verb('revoke', 'take it back from its holder, who stops first', [
    'mesh task revoke 1a2b3c4d',
    'mesh task revoke 1a2b3c4d --to paused',
  ])
    .addOption(
      new Option('--to <state>', 'where it goes')
        .choices(['ready', 'submitted', 'paused'])
        .default('submitted'),
    )
    .action((ref: string, { to }: { to: string }) =>
      run(async (session) => steer(session, await session.connect(), ref, { do: 'revoke', to })),
    );
  withArrival(
    verb('received', 'say that a notice came, with its proof; nothing is sent', [
      'mesh task received 1a2b3c4d --notice notice:d-0123456789abcdef:maria:1 --receipt shown-7',
      'mesh task received 1a2b3c4d --notice notice:d-0123456789abcdef:maria:1 --receipt shown-7 --queue-receipt q-5',
    ]),
  ).action((ref: string, { notice, receipt, queueReceipt }: ArrivalOptions) =>
    run(async (session) => {
      const queued = queueReceipt === undefined ? {} : { queueReceiptId: queueReceipt };
      const arrival = { noticeId: notice, receiptId: receipt, ...queued };
      return steer(session, await session.connect(), ref, { do: 'received', ...arrival });
    }),
  );
  withEdit(verb('edit', 'change it before anybody takes it', editExamples)).action(
    (ref: string, options: EditOptions) =>
      run(async (session) => {
        const edit = editOf(options, session.clock.nowMs());
        return steer(session, await session.connect(), ref, { do: 'edit', edit });
      }),
  );
}

const editExamples = [
  'mesh task edit 1a2b3c4d --priority 1 --score 5',
  'mesh task edit 1a2b3c4d --deadline 2d --no-not-before',
];

const withEdit = (command: Command): Command =>
  command
    .addOption(priorityOption())
    .addOption(scoreOption('its size'))
    .option('--deadline <when>', 'done by then: 2h, 2026-12-24', parseWhen)
    .option('--no-deadline', 'without a deadline')
    .option('--not-before <when>', 'nobody takes it before', parseWhen)
    .option('--no-not-before', 'may be taken at once');

/** @throws InvalidValueError when nothing is to be changed, or to times that can't be kept */
function editOf(options: EditOptions, nowMs: number): Record<string, number | null> {
  const instant = (when: When | false): number | null =>
    when === false ? null : atMsOf(when, nowMs);
  const { priority, score } = options;
  const deadline = options.deadline === undefined ? undefined : instant(options.deadline);
  const notBefore = options.notBefore === undefined ? undefined : instant(options.notBefore);
  requireOrder(deadline ?? undefined, notBefore ?? undefined, nowMs);
  const edit = {
    ...(priority === undefined ? {} : { priority }),
    ...(score === undefined ? {} : { score }),
    ...(deadline === undefined ? {} : { deadlineAtMs: deadline }),
    ...(notBefore === undefined ? {} : { notBeforeAtMs: notBefore }),
  };
  if (Object.keys(edit).length > 0) return edit;
  throw new InvalidValueError(
    'Nothing to change. Give --priority, --score, --deadline or --not-before.',
    'edit',
  );
}

/** Asks the mesh for one `cardmesh/steer`, by a person; what the task is after it. */
export async function steer(
  session: Session,
  mesh: MeshConnection,
  ref: string,
  steering: Readonly<Record<string, unknown>>,
): Promise<Result> {
  const { uid, state } = await taskNamed(mesh, ref);
  const call = {
    method: 'cardmesh/steer',
    params: { taskId: uid, ...steering },
    signal: session.signal,
  };
  const { task } = await taskRpc(mesh, state, call, z.looseObject({ task: WireTask }));
  return {
    data: task,
    text: `${shortId(uid)} is ${phaseOf(task) ?? stateOf(task).toLowerCase()}.`,
  };
}

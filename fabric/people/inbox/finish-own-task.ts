import { BoardUnavailableError, MeshError } from '../../domain/errors.ts';
import type { PrincipalId, TaskId } from '../../domain/ids.ts';
import { limits } from '../../domain/limits.ts';
import type { QueueDeps } from '../../queue/deps.ts';
import { claimTask } from '../../queue/claim.ts';
import { finishRun, keepText } from '../../queue/finish.ts';
import { withTaint } from '../../queue/taint.ts';

export interface OwnFinish {
  readonly uid: TaskId;
  readonly human: PrincipalId;
  readonly text: string;
  /** Of the act that this takes in. */
  readonly token: string;
}

/**
 * A person's own task, done by what they wrote before anything was asked of them: claimed for them and settled
 * with their words, as a run of their agent would.
 * @throws BoardUnavailableError while their agent is just at it: then the act is to be looked at again
 */
export async function finishOwnTask(queue: QueueDeps, finish: OwnFinish): Promise<void> {
  const { uid, human, text, token } = finish;
  const policy = queue.directory.agent(human);
  if (policy === undefined) return;
  const incarnation = queue.random.hex(8);
  const held = await claimTask(queue, uid, { policy, incarnation, startNow: true });
  if (held === undefined) {
    const phase = (await queue.board.read(uid))?.state.phase;
    if (phase === 'claimed' || phase === 'working') {
      throw new BoardUnavailableError(`Task ${uid} is just being taken. Look again.`);
    }
    throw new MeshError(
      'BAD_TRANSITION',
      `Task ${uid} can’t be taken while it is ${phase ?? 'gone'}.`,
    );
  }
  const artifact = await keepText(queue, 'answer', 'text/plain', text);
  const outcome = { summary: text.slice(0, limits.messageChars), artifacts: [artifact] };
  const end = await withTaint(queue.board, held.state, policy, { kind: 'done', outcome });
  await finishRun({ ...queue, token }, held, end);
}

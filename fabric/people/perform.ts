import { MeshError } from '../domain/errors.ts';
import { limits } from '../domain/limits.ts';
import type { TaskId } from '../domain/ids.ts';
import type { Principal } from '../domain/principal.ts';
import type { TaskState } from '../domain/state.ts';
import { answerQuestion } from '../queue/answer.ts';
import { cancelTask } from '../queue/cancel.ts';
import type { QueueDeps } from '../queue/deps.ts';
import { reworkTask } from '../queue/rework.ts';
import { noteMessage, steerTask, type Steering } from '../queue/steer.ts';
import { verifyTask } from '../queue/verify.ts';
import type { Command } from './plan.ts';

export interface Errand {
  /** With the act's token. */
  readonly deps: QueueDeps & { readonly token: string };
  readonly principal: Principal;
  readonly uid: TaskId;
  /** What the result lacked, in their words; asked for only where it is needed. */
  readonly correction: () => string;
}

/**
 * Carries a command out as its person: through the use case that anybody's call goes through.
 * @throws MeshError as that use case
 */
export async function perform(errand: Errand, command: Command): Promise<void> {
  const { deps, principal, uid } = errand;
  switch (command.do) {
    case 'letIn':
      return letIn(errand);
    case 'takeBack':
      return takeBack(errand, command.to);
    case 'archive':
      await steerTask(deps, principal, uid, { do: 'archive' });
      return;
    case 'edit':
      await steerTask(deps, principal, uid, { do: 'edit', edit: command.edit });
      return;
    case 'answer': {
      const { decisionId, value, note } = command;
      const words = note === undefined ? {} : { note };
      await answerQuestion(deps, { principal, uid, decisionId, value, ...words });
      return;
    }
    case 'note': {
      const text = cutTo(command.text, limits.inlineBytes / 4);
      await noteMessage(deps, principal, uid, { messageId: `board-${deps.token}`, text });
      return;
    }
    case 'verify':
      await verifyTask(deps, { principal, uid, verdict: 'verified' });
      return;
    case 'refuse': {
      const note = cutTo(errand.correction(), limits.answerChars);
      await verifyTask(deps, { principal, uid, verdict: 'refused', note, rework: true });
      return;
    }
    case 'rework': {
      const correction = cutTo(errand.correction(), limits.answerChars);
      await reworkTask(deps, { principal, uid, correction });
      return;
    }
    case 'cancel': {
      const reason = command.reason === undefined ? {} : { reason: command.reason };
      await cancelTask(deps, { principal, uid, ...reason });
      return;
    }
  }
}

const cutTo = (text: string, chars: number): string => text.slice(0, chars).toWellFormed();

/** Held while it still waited for leave: the drag gives that, too. */
async function letIn({ deps, principal, uid }: Errand): Promise<void> {
  const state = (await deps.board.read(uid))?.state;
  const after =
    state?.phase === 'paused' ? await steerTask(deps, principal, uid, { do: 'resume' }) : state;
  if (after?.phase !== 'ready' && after?.phase !== 'scheduled') {
    await steerTask(deps, principal, uid, { do: 'admit' });
  }
}

/** By what it is now: an agent may have taken it, or given it back, since it was dragged. */
async function takeBack(errand: Errand, to: 'ready' | 'paused'): Promise<void> {
  const { deps, principal, uid } = errand;
  for (let tries = 1; ; tries++) {
    const state = (await deps.board.read(uid))?.state;
    const steering = state && takingBack(state, to);
    if (steering === undefined) return;
    try {
      await steerTask(deps, principal, uid, steering);
      return;
    } catch (error) {
      const now = (await deps.board.read(uid))?.state;
      const moved = error instanceof MeshError && error.code === 'BAD_TRANSITION';
      if (!moved || now?.version === state?.version || tries === 3) throw error;
    }
  }
}

function takingBack({ phase }: TaskState, to: 'ready' | 'paused'): Steering | undefined {
  if (phase === 'claimed' || phase === 'working') return { do: 'revoke', to };
  if (to === 'ready' && (phase === 'ready' || phase === 'scheduled')) return undefined;
  return to === 'ready' ? { do: 'revoke', to } : { do: 'pause' };
}

import { z } from 'zod';
import { MeshError, type MeshErrorCode } from '../../domain/errors.ts';
import type { PrincipalId, TaskId } from '../../domain/ids.ts';
import type { Directory } from '../../ports/directory.ts';
import type { TaskLog } from '../../ports/task-board.ts';
import { answerQuestion } from '../../queue/answer.ts';
import type { QueueDeps } from '../../queue/deps.ts';
import { verifyTask } from '../../queue/verify.ts';
import { uidOf } from '../../kanboard/board-tasks.ts';
import type { KanboardBoard } from '../../kanboard/kanboard-board.ts';
import { resultOf } from '../../kanboard/kanboard-rows.ts';
import type { PersonAct } from '../../kanboard/people/person-act.ts';
import { tokenOf } from '../act-taker.ts';
import { isSaid, threadOf, type SaidOnce, type ThreadComment } from '../said-once.ts';
import type { InboxPlan } from './act-situation.ts';
import { finishOwnTask } from './finish-own-task.ts';
import { inboxItemsOf, inboxOwnerOf, itemNameOf, personOf } from './inbox-items.ts';
import { planAct } from './inbox-plan.ts';
import type { InboxProjection } from './inbox-projection.ts';
import { saidIn } from './inbox-words.ts';
import { moved } from './item-writer.ts';

export interface InboxActsOptions {
  readonly board: KanboardBoard;
  readonly queue: QueueDeps;
  /** Which mesh's, where several share a Kanboard. */
  readonly boardId: string;
  readonly projection: InboxProjection;
  readonly said: SaidOnce;
}

/** An act on something of ours in an inbox, and all that is known of it. */
interface Matter {
  readonly act: PersonAct;
  readonly uid: TaskId;
  readonly key: string | undefined;
  readonly human: PrincipalId;
  readonly log: TaskLog;
  readonly comments: readonly ThreadComment[];
}

/**
 * Takes in what people do in inboxes: each act once, whoever hears of it and however often. What it changes
 * bears a token of that act in the task's log; what is refused is said in one comment that bears its number.
 */
export class InboxActs {
  readonly #options: InboxActsOptions;

  constructor(options: InboxActsOptions) {
    this.#options = options;
  }

  /** @throws BoardUnavailableError while the board does not answer: then it is to be told again */
  async take(act: PersonAct): Promise<void> {
    const matter = await this.#matterOf(act);
    if (matter === undefined) return;
    const token = tokenOf(this.#options.boardId, act);
    const isTaken = matter.log.events.some((event) => event.token === token);
    if (isTaken || isSaid(matter.comments, refusalKey(act))) return;
    const { uid, key, human, log, comments } = matter;
    const { directory } = this.#options.queue;
    const lastWords = wordsOf(act, comments);
    const { did, username } = act;
    const situation = { did, username, human, key, lastWords, directory };
    const plan = planAct({ ...situation, state: log.state });
    await this.#apply(matter, plan, token);
    if (key === undefined) return;
    const item = { uid, key, project: act.project, row: act.row };
    const mayHaveEnded = plan.do === 'answer' || plan.do === 'verify' || !isOpen(matter, directory);
    if (mayHaveEnded) this.#options.projection.acted(item);
  }

  /** Undefined: a board task that is none of ours, or of a log that this host does not know. */
  async #matterOf(act: PersonAct): Promise<Matter | undefined> {
    const { board, queue } = this.#options;
    if (act.project.layout !== 'inbox') return undefined;
    const name = itemNameOf(act.row.reference);
    const uid = name?.uid ?? uidOf(act.row.reference);
    const human = inboxOwnerOf(queue.directory, act.project.queue);
    if (uid === undefined || human === undefined) return undefined;
    const log = await board.read(uid);
    if (log === undefined) return undefined;
    const thread = await threadOf(board.parts.rpc, act.row.boardTaskId);
    return thread && { act, uid, key: name?.key, human, log, comments: thread.comments };
  }

  async #apply(matter: Matter, plan: InboxPlan, token: string): Promise<void> {
    if (plan.do === 'nothing') return;
    if (plan.do === 'refuse') return this.#refuse(matter, plan.why, plan.putBack);
    try {
      await this.#decide(matter, plan, token);
    } catch (error) {
      if (!(error instanceof MeshError) || error.code === 'FABRIC_DOWN') throw error;
      await this.#refuse(matter, refusalTexts[error.code] ?? otherRefusal, true);
    }
  }

  async #decide(
    { uid, human }: Matter,
    plan: Exclude<InboxPlan, { do: 'nothing' | 'refuse' }>,
    token: string,
  ): Promise<void> {
    const queue = { ...this.#options.queue, token };
    const principal = personOf(queue.directory, human);
    if (principal === undefined) return;
    switch (plan.do) {
      case 'answer': {
        const { decisionId, value, note } = plan;
        const noted = note === undefined ? {} : { note };
        await answerQuestion(queue, { principal, uid, decisionId, value, ...noted });
        return;
      }
      case 'verify': {
        const { verdict, note } = plan;
        const noted = note === undefined ? {} : { note };
        await verifyTask(queue, { principal, uid, verdict, ...noted });
        return;
      }
      case 'finish':
        await finishOwnTask(this.#options.queue, { uid, human, text: plan.text, token });
        this.#showAgain(uid);
    }
  }

  /** Says once why nothing was done, and puts a drag back to where it was. */
  async #refuse({ act, uid, key }: Matter, why: string, putBack: boolean): Promise<void> {
    const { said, board } = this.#options;
    const once = { key: refusalKey(act), atMs: act.atMs };
    await said.say(act.row.boardTaskId, once, `↩ **${act.username}**, this was not done. ${why}`);
    if (!putBack) return;
    if (key === undefined) {
      this.#showAgain(uid);
      return;
    }
    const [reply] = await board.parts.rpc.batch([moved(act, 'ready')]);
    resultOf(reply, z.boolean(), 'putting a drag back');
  }

  /** A person's own task is shown by the board itself, which has to look where it lies now. */
  #showAgain(uid: TaskId): void {
    const { tasks, display } = this.#options.board.parts;
    tasks.forget(uid);
    display.show(uid);
  }
}

const isOpen = ({ log, key, human }: Matter, directory: Directory): boolean =>
  inboxItemsOf(log.state, log.events, directory).some(
    (item) => item.key === key && item.human === human,
  );

/** What the comment that refuses an act ends with, by which it is found again. */
const refusalKey = ({ activityId }: PersonAct): string => `a${activityId}`;

/** What its person wrote last that was no command; in a comment's own act, what they wrote before it. */
function wordsOf(
  { did, userId }: PersonAct,
  comments: readonly ThreadComment[],
): string | undefined {
  const own = comments.filter((one) => one.userId === userId);
  const before = did.kind === 'commented' ? own.filter(isBefore(did.commentId)) : own;
  const words = before.map(({ text }) => saidIn(text)).filter(({ command }) => !command);
  return words.findLast(({ text }) => text !== '')?.text;
}

const isBefore =
  (commentId: number) =>
  (one: ThreadComment): boolean =>
    one.commentId < commentId;

/** Without an id or a word of the machinery: people read it on the board. */
const refusalTexts: Readonly<Partial<Record<MeshErrorCode, string>>> = {
  STALE_DECISION: 'Too late: this was answered before, and an answer is not changed.',
  VALIDATION_ERROR: 'That can’t be taken as it is: an answer has at most 4,000 characters.',
  NOT_VERIFIER: 'You are not among those who may verify this.',
  TRUST_DENIED: 'You may not do this.',
};
const otherRefusal = 'That did nothing: the task has gone on. See `mesh inbox`.';

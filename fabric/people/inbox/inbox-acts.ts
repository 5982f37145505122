import { hash } from 'node:crypto';
import type { z } from 'zod';
import { MeshError, type MeshErrorCode } from '../../domain/errors.ts';
import type { PrincipalId, TaskId } from '../../domain/ids.ts';
import type { TaskLog } from '../../ports/task-board.ts';
import { answerQuestion } from '../../queue/answer.ts';
import type { QueueDeps } from '../../queue/deps.ts';
import { verifyTask } from '../../queue/verify.ts';
import { uidOf } from '../../kanboard/board-tasks.ts';
import type { KanboardBoard } from '../../kanboard/kanboard-board.ts';
import { call, Comments, resultOf } from '../../kanboard/kanboard-rows.ts';
import type { PersonAct } from '../../kanboard/people/person-act.ts';
import { Reservations } from '../../kanboard/reservations.ts';
import type { InboxPlan } from './act-situation.ts';
import { finishOwnTask } from './finish-own-task.ts';
import { inboxItemsOf, inboxOwnerOf, itemNameOf, personOf, type People } from './inbox-items.ts';
import { planAct } from './inbox-plan.ts';
import type { InboxProjection } from './inbox-projection.ts';
import { saidIn } from './inbox-words.ts';
import { moved } from './item-writer.ts';
import { actMark, isTold, withMark } from './told-mark.ts';

export interface InboxActsOptions {
  readonly board: KanboardBoard;
  readonly queue: QueueDeps;
  /** Which mesh's, where several share a Kanboard. */
  readonly boardId: string;
  readonly projection: InboxProjection;
}

type CommentRows = z.infer<typeof Comments>;

/** An act on something of ours in an inbox, and all that is known of it. */
interface Matter {
  readonly act: PersonAct;
  readonly uid: TaskId;
  readonly key: string | undefined;
  readonly human: PrincipalId;
  readonly log: TaskLog;
  readonly comments: CommentRows;
}

/** Between two looks for the comment that another process is about to write. */
const lookMs = 300;

/**
 * Takes in what people do in inboxes: each act once, whoever hears of it and however often. What it changes
 * bears a token of that act in the task's log; what is refused is said in one comment that bears its number.
 */
export class InboxActs {
  readonly #options: InboxActsOptions;
  readonly #reservations: Reservations;

  constructor(options: InboxActsOptions) {
    this.#options = options;
    const { clock, random } = options.queue;
    this.#reservations = new Reservations({ rpc: options.board.parts.rpc, clock, random });
  }

  /** @throws BoardUnavailableError while the board does not answer: then it is to be told again */
  async take(act: PersonAct): Promise<void> {
    const matter = await this.#matterOf(act);
    if (matter === undefined) return;
    const token = tokenOf(this.#options.boardId, act);
    const isTaken = matter.log.events.some((event) => event.token === token);
    if (isTaken || isTold(matter.comments, actMark(act))) return;
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
    const listing = call('getAllComments', { task_id: act.row.boardTaskId });
    const [reply] = await board.parts.rpc.batch([listing]);
    const comments = resultOf(reply, Comments, 'the comments of an inbox’s board task');
    return { act, uid, key: name?.key, human, log, comments };
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
  async #refuse(matter: Matter, why: string, putBack: boolean): Promise<void> {
    const { act, uid, key } = matter;
    if (!(await this.#isToTell(matter))) return;
    const { boardTaskId: task_id } = act.row;
    const content = withMark(`↩ ${why}`, actMark(act));
    const isItem = key !== undefined;
    const [told] = await this.#options.board.parts.rpc.batch([
      call('createComment', { task_id, user_id: 0, content }),
      ...(putBack && isItem ? [moved(act, 'ready')] : []),
    ]);
    if (told?.ok === false) throw new MeshError('FABRIC_DOWN', told.message);
    if (putBack && !isItem) this.#showAgain(uid);
  }

  /** Waits for whoever is about to tell it, unless that one is gone. */
  async #isToTell({ act, uid }: Matter): Promise<boolean> {
    const { clock } = this.#options.queue;
    const listing = call('getAllComments', { task_id: act.row.boardTaskId });
    // SQLite gives a number again after its task was taken away, so the second is part of the name.
    const what = `act-${act.activityId}-${act.atMs / 1_000}`;
    for (;;) {
      const { isOurs, also } = await this.#reservations.take(uid, what, [listing]);
      const comments = resultOf(also[0], Comments, 'the comments of an inbox’s board task');
      if (isTold(comments, actMark(act))) return false;
      if (isOurs) return true;
      await clock.sleep(lookMs);
    }
  }

  /** A person's own task is shown by the board itself, which has to look where it lies now. */
  #showAgain(uid: TaskId): void {
    const { tasks, display } = this.#options.board.parts;
    tasks.forget(uid);
    display.show(uid);
  }
}

const isOpen = ({ log, key, human }: Matter, directory: People): boolean =>
  inboxItemsOf(log.state, log.events, directory).some(
    (item) => item.key === key && item.human === human,
  );

/** The same in every process that hears of the act. */
const tokenOf = (boardId: string, { activityId, atMs }: PersonAct): string =>
  hash('sha256', `${boardId}|${activityId}|${atMs}`, 'hex').slice(0, 16);

/** What its person wrote last that was no command; in a comment's own act, what they wrote before it. */
function wordsOf({ did, userId }: PersonAct, comments: CommentRows): string | undefined {
  const own = comments.filter((one) => one.userId === userId);
  const before = did.kind === 'commented' ? own.filter(isBefore(did.commentId)) : own;
  const words = before.map(({ text }) => saidIn(text)).filter(({ command }) => !command);
  return words.findLast(({ text }) => text !== '')?.text;
}

const isBefore =
  (commentId: number) =>
  (one: CommentRows[number]): boolean =>
    one.commentId < commentId;

/** Without an id or a word of the machinery: people read it on the board. */
const refusalTexts: Readonly<Partial<Record<MeshErrorCode, string>>> = {
  STALE_DECISION: 'Too late: this was answered before, and an answer is not changed.',
  VALIDATION_ERROR: 'That can’t be taken as it is: an answer has at most 4,000 characters.',
  NOT_VERIFIER: 'You are not among those who may verify this.',
  TRUST_DENIED: 'You may not do this.',
};
const otherRefusal = 'That did nothing: the task has gone on. See `mesh inbox`.';

import { hash } from 'node:crypto';
import { maySee } from '../domain/access.ts';
import type { TaskEvent } from '../domain/events.ts';
import { fold } from '../domain/fold.ts';
import { PrincipalId } from '../domain/ids.ts';
import type { TaskState } from '../domain/state.ts';
import { columnOf, roleOf } from '../kanboard/board-projects.ts';
import { referenceOf, uidOf } from '../kanboard/board-tasks.ts';
import { call, Done, resultOf, type BoardTask } from '../kanboard/kanboard-rows.ts';
import type { PersonAct } from '../kanboard/people/person-act.ts';
import type { TaskLog } from '../ports/task-board.ts';
import { adopt, adopterOf, type AdoptDeps } from './adopt.ts';
import { perform } from './perform.ts';
import { personCalled, refusalOf } from './person.ts';
import { planFor } from './plan-act.ts';
import { refusal, type Plan } from './plan.ts';
import { isSaid, threadOf, type SaidOnce, type ThreadComment } from './said-once.ts';

export interface ActTakerDeps extends AdoptDeps {
  readonly said: SaidOnce;
}

/** The board task that an act was done to, as it is now. */
interface Scene {
  readonly act: PersonAct;
  readonly row: BoardTask;
  readonly comments: readonly ThreadComment[];
}

/** Of the events that an act makes; the same in every process, and another one for every act. */
export const tokenOf = (boardId: string, { activityId, atMs, row }: PersonAct): string =>
  hash('sha256', `${boardId}|${activityId}|${atMs}|${row.boardTaskId}`, 'hex').slice(0, 16);

/** What a refusal of the act ends with, by which it is found again. */
const answerKeyOf = ({ activityId }: PersonAct): string => `a${activityId}`;

/**
 * Takes in what people do in the projects of queues. Told the same act twice, or in two processes, it does
 * it once: the log has its token, or the board task the comment that refused it.
 */
export class ActTaker {
  readonly #deps: ActTakerDeps;

  constructor(deps: ActTakerDeps) {
    this.#deps = deps;
  }

  /** @throws BoardUnavailableError and whatever is a fault of ours; the act is to be told again then */
  async take(act: PersonAct): Promise<void> {
    if (act.project.layout !== 'queue' || !concernsUs(act)) return;
    const thread = await threadOf(this.#deps.board.parts.rpc, act.row.boardTaskId);
    if (thread === undefined || isSaid(thread.comments, answerKeyOf(act))) return;
    const scene = { act, ...thread };
    if (await this.#putsBackReference(scene)) return;
    const uid = uidOf(thread.row.reference);
    const log = uid && (await this.#deps.board.read(uid));
    if (uid && log) await this.#takeOn(scene, log);
    else if (uid || !thread.row.reference.startsWith('mesh:')) await this.#adoptFrom(scene);
  }

  /** Ends an adoption that was begun: the board task names a log that nobody has written. */
  async mend({ project, row }: Pick<PersonAct, 'project' | 'row'>): Promise<void> {
    const uid = uidOf(row.reference);
    if (uid === undefined || (await this.#deps.board.read(uid))) return;
    const principal = adopterOf(this.#deps, { project, row }, uid);
    if (principal) await adopt(this.#deps, { project, row }, principal);
  }

  async #adoptFrom({ act, row }: Scene): Promise<void> {
    const { project, username } = act;
    const isThere = row.isOpen && row.columnId === columnOf(project, 'ready');
    if (!putsIntoReady(act) || !isThere || row.projectId !== project.projectId) return;
    const person = personCalled(this.#deps.queue.directory, username);
    if ('why' in person) return this.#refuse(act, person.why);
    const token = tokenOf(this.#deps.boardId, act);
    const queue = { ...this.#deps.queue, token };
    const why = await adopt({ ...this.#deps, queue }, { project, row }, person);
    if (why !== undefined) await this.#refuse(act, why);
  }

  async #takeOn(scene: Scene, log: TaskLog): Promise<void> {
    const { board, boardId } = this.#deps;
    const { act, row } = scene;
    const token = tokenOf(boardId, act);
    board.parts.tasks.remember(log.uid, row);
    const seen = seenAt(log.events, act.atMs, token);
    if (seen === undefined || isTaken(log, token)) return;
    const plan = planOf(act, seen);
    if (plan.kind !== 'nothing') await this.#obey(plan, scene, log, token);
    // By its log it stands where it stood, or elsewhere; either way people see that.
    if (act.did.kind !== 'commented') board.parts.display.show(log.uid);
  }

  async #obey(
    plan: Exclude<Plan, { kind: 'nothing' }>,
    { act, comments }: Scene,
    { uid, state }: TaskLog,
    token: string,
  ): Promise<void> {
    const principal = personCalled(this.#deps.queue.directory, act.username);
    // Who merely reads along may say what they like, and is told nothing.
    const isRemark = plan.kind === 'commands' && plan.commands.every((one) => one.do === 'note');
    if ('why' in principal) return isRemark ? undefined : this.#refuse(act, principal.why);
    if (plan.kind === 'refusal') return this.#refuse(act, plan.why);
    if (isRemark && !maySee(state, principal)) return;
    const deps = { ...this.#deps.queue, token };
    const correction = () => correctionIn(comments, act, state);
    try {
      for (const one of plan.commands) await perform({ deps, principal, uid, correction }, one);
    } catch (error) {
      const why = refusalOf(error);
      if (why === undefined) throw error;
      if (!isRemark) await this.#refuse(act, why);
    }
  }

  async #refuse(act: PersonAct, why: string): Promise<void> {
    const once = { key: answerKeyOf(act), atMs: act.atMs };
    const text = `↩ **${act.username}**, this was not done. ${why}`;
    await this.#deps.said.say(act.row.boardTaskId, once, text);
  }

  /** By its reference a task is found; who writes into that field would tear the two apart. */
  async #putsBackReference({ act, row }: Scene): Promise<boolean> {
    const { board } = this.#deps;
    const uid = writesReference(act) ? board.parts.tasks.shownBy(row) : undefined;
    if (uid === undefined || row.reference === referenceOf(uid)) return false;
    const putting = { id: row.boardTaskId, reference: referenceOf(uid) };
    const [put] = await board.parts.rpc.batch([call('updateTask', putting)]);
    resultOf(put, Done, 'putting back a reference');
    board.parts.tasks.remember(uid, { ...row, reference: putting.reference });
    await this.#refuse(act, 'By the field Reference the mesh knows the task; it stands as it was.');
    return true;
  }
}

/** What people do among themselves, on board tasks that are not ours, is theirs and costs nothing. */
const concernsUs = (act: PersonAct): boolean =>
  uidOf(act.row.reference) !== undefined || putsIntoReady(act) || writesReference(act);

const putsIntoReady = ({ did, project, row }: PersonAct): boolean =>
  (did.kind === 'created' && roleOf(project, row.columnId) === 'ready') ||
  (did.kind === 'moved' && did.to === 'ready');

const writesReference = ({ did }: PersonAct): boolean =>
  did.kind === 'edited' && did.fields.includes('reference');

function planOf(act: PersonAct, seen: TaskState): Plan {
  if (act.did.kind === 'moved' && act.project.queue !== seen.queue) {
    return refusal(`It belongs to the queue ${seen.queue}, and stays in that one's project.`);
  }
  return planFor(act, seen, PrincipalId.parse(act.username));
}

/** The task as its person saw it: what came after they acted can't be what they meant. */
function seenAt(
  events: readonly TaskEvent[],
  atMs: number,
  ownToken: string,
): TaskState | undefined {
  // Kanboard's times are whole seconds, and what was written in the same one may have been seen.
  const later = events.findIndex((event) => event.token === ownToken || event.atMs >= atMs + 1_000);
  return fold(later === -1 ? events : events.slice(0, later));
}

/** Taken in to its end; a refusal's rework is submitted after it. */
function isTaken({ events, state }: TaskLog, token: string): boolean {
  const taken = events.filter((event) => event.token === token);
  const isHalf = taken.length === 1 && taken[0]?.kind === 'refused' && taken[0].rework;
  return taken.length > 0 && !(isHalf && !state.links.some(({ taskId }) => taskId === isHalf));
}

/** Their newest words since the result came; without any, the drag itself. */
function correctionIn(
  comments: readonly ThreadComment[],
  { userId, username, atMs }: PersonAct,
  { phaseAtMs }: TaskState,
): string {
  const since = Math.floor(phaseAtMs / 1_000) * 1_000;
  const own = comments.filter((one) => one.userId === userId && !one.text.startsWith('/'));
  const said = own.findLast((one) => one.atMs >= since && one.atMs <= atMs);
  return said?.text.trim() ?? `${username} sent it back to be done anew, without a word.`;
}

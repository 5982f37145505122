import { hash } from 'node:crypto';
import { a2aViewOf, isTerminal } from '../domain/a2a-state.ts';
import { MeshError, reasonOf } from '../domain/errors.ts';
import type { Author, EventOf } from '../domain/events.ts';
import { PrincipalId, type TaskId } from '../domain/ids.ts';
import type { TaskState } from '../domain/state.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { Random } from '../ports/random.ts';
import type { TaskBoard } from '../ports/task-board.ts';
import type { BoardDisplay } from './board-display.ts';
import type { BoardTasks } from './board-tasks.ts';
import type { ConversationCards } from './conversation-cards.ts';
import { projectedKey, type LogMirror } from './log-mirror.ts';

export interface SyncProjectorOptions {
  readonly mirror: TaskBoard;
  readonly logs: LogMirror;
  readonly tasks: BoardTasks;
  readonly display: BoardDisplay;
  readonly conversations: ConversationCards;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** The receipt by which a turn of a conversation is known to be on its board task. */
const toldKey = 'conversation';
/** Between two passes over what has still to be projected; sync work is on the board within 30 s. */
const passMs = 5_000;
const pageSize = 100;

/**
 * Brings sync work to the board after it was answered (`DESIGN.md` 5.2, 6.3). What is over, of policy
 * `none`, is told on the conversation's own board task; what is open (waits for a worker, a person, a
 * verification) moves there with its whole log, and from then on the board decides.
 */
export class SyncProjector {
  readonly #options: SyncProjectorOptions;
  readonly #stopping = new AbortController();
  readonly #due = new Set<TaskId>();
  #isRemembered = false;
  #loop: Promise<void> | undefined;
  #wake = new AbortController();

  constructor(options: SyncProjectorOptions) {
    this.#options = options;
  }

  start(): void {
    const { mirror, logs } = this.#options;
    const unwatch = mirror.watch((uid, state) => {
      if (!logs.isLocal(state) || wantOf(state) === undefined) return;
      this.#due.add(uid);
      this.#wake.abort();
    });
    this.#loop ??= this.#run().finally(unwatch);
  }

  /** Brings what it still can: this process's mirror may go with it. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#wake.abort();
    if (this.#loop === undefined) return;
    await this.#loop;
    if (this.#due.size > 0) await this.pass();
  }

  /** Projects what is due. Returns how many tasks it brought. */
  async pass(): Promise<number> {
    let brought = 0;
    if (!this.#isRemembered) await this.#remember();
    this.#isRemembered = true;
    for (const uid of [...this.#due]) {
      try {
        const state = (await this.#options.mirror.read(uid))?.state;
        if (state && this.#isBeingTaken(state)) continue;
        if (state && this.#isDue(state) && (await this.#project(state))) brought += 1;
        this.#due.delete(uid);
      } catch (error) {
        // The board is away: all that is left waits for it, and is still known the next time.
        if (error instanceof MeshError && error.code === 'FABRIC_DOWN') return brought;
        this.#due.delete(uid);
        const about = { taskId: uid, reason: reasonOf(error) };
        this.#options.log.error('board.projection-failed', about);
      }
    }
    return brought;
  }

  async #run(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      this.#wake = new AbortController();
      await this.pass().catch((error: unknown) => {
        this.#options.log.error('board.projection-failed', { reason: reasonOf(error) });
      });
      await this.#options.clock.sleep(passMs, this.#wake.signal);
    }
  }

  /** What this home had left when its process ended; from then on changes tell of themselves. */
  async #remember(): Promise<void> {
    let cursor: string | undefined;
    do {
      const page = await this.#options.mirror.find({ limit: pageSize, ...(cursor && { cursor }) });
      for (const state of page.states) if (this.#isDue(state)) this.#due.add(state.taskId);
      cursor = page.cursor;
    } while (cursor !== undefined);
  }

  #isDue(state: TaskState): boolean {
    if (this.#options.logs.isMoving(state)) return true;
    return this.#options.logs.isLocal(state) && wantOf(state) !== undefined;
  }

  /** Who made it claims it next: moved in between, its run would wait for a board that may be away or held. */
  #isBeingTaken({ phase, version, phaseAtMs }: TaskState): boolean {
    if (this.#stopping.signal.aborted || version > 1 || phase !== 'ready') return false;
    return this.#options.clock.nowMs() - phaseAtMs < passMs;
  }

  async #project(state: TaskState): Promise<boolean> {
    if (wantOf(state) === 'told') return this.#tell(state);
    return this.#move(state.taskId);
  }

  async #tell(state: TaskState): Promise<boolean> {
    await this.#options.conversations.tell(state);
    return this.#receipt(state.taskId, toldKey, 'published');
  }

  /**
   * The receipt is the last event that only this home has: after it nothing is appended here, so the copy
   * can't be overtaken. A death on the way leaves a log that says it is moving, and the move goes on.
   */
  async #move(uid: TaskId): Promise<boolean> {
    const { logs, mirror, tasks, display } = this.#options;
    const known = await mirror.read(uid);
    if (known === undefined) return false;
    if (logs.isLocal(known.state) && !(await this.#receipt(uid, projectedKey, 'sending')))
      return false;
    const moved = await logs.copyToBoard(uid);
    if (moved === undefined) return false;
    await tasks.of(moved.state);
    for (const version of moved.events.keys()) display.show(uid, version + 1);
    return true;
  }

  async #receipt(uid: TaskId, key: string, status: 'sending' | 'published'): Promise<boolean> {
    const { mirror, logs, clock, random } = this.#options;
    const known = await mirror.read(uid);
    if (known === undefined || !logs.isLocal(known.state)) return false;
    const event: EventOf<'receipted'> = {
      kind: 'receipted',
      by: fabric,
      atMs: clock.nowMs(),
      token: random.hex(8),
      key,
      status,
      digest: hash('sha256', `${uid} ${key}`, 'hex').slice(0, 16),
    };
    const answer = await mirror.append(uid, known.state.version + 1, event, 'committed');
    return answer === 'appended';
  }
}

const fabric: Author = { id: PrincipalId.parse('fabric'), role: 'fabric' };

/**
 * What the board has still to get of a task that only its home knows: a word in its conversation once it
 * is over, the whole log while it is open and nobody is at it. Undefined: nothing, or not yet.
 */
function wantOf(state: TaskState): 'told' | 'moved' | undefined {
  const { phase, receipts, task } = state;
  if (phase === 'claimed' || phase === 'working') return undefined;
  const isOver = isTerminal(a2aViewOf(state).state);
  if (!isOver || task.verification !== 'none') return 'moved';
  return receipts[toldKey] === undefined ? 'told' : undefined;
}

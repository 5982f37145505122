import type { QueueDeps } from '../../queue/deps.ts';
import type { KanboardBoard } from '../../kanboard/kanboard-board.ts';
import { SaidOnce } from '../said-once.ts';
import { InboxActs } from './inbox-acts.ts';
import { InboxProjection } from './inbox-projection.ts';

export interface KeepInboxesOptions {
  readonly board: KanboardBoard;
  /** Its `board` is the same one; its directory says who is a person, and whose queue is whose inbox. */
  readonly queue: QueueDeps;
  /** Which mesh's, where several share a Kanboard. */
  readonly boardId: string;
}

/**
 * One project a person on Kanboard with what waits for them, and their drags and comments there as answers
 * (`DESIGN.md` 5.2). Needs the board's poll to be running. Several processes may do it side by side.
 */
export function keepInboxes(options: KeepInboxesOptions): () => Promise<void> {
  const { board, queue, boardId } = options;
  const { rpc } = board.parts;
  const said = new SaidOnce({ rpc, clock: queue.clock, boardId, token: queue.random.hex(8) });
  const projection = new InboxProjection({ board, queue, said });
  const acts = new InboxActs({ board, queue, boardId, projection, said });
  const ends = [
    board.watch((uid, state) => {
      projection.changed(uid, state);
    }),
    board.parts.poll.onRows(() => {
      projection.look();
      return Promise.resolve();
    }),
    // What could not be read is seen from where the items lie: it is put back, and nothing was decided.
    board.parts.activity.onAct(
      (act) => acts.take(act),
      () => {
        projection.look();
        return Promise.resolve();
      },
    ),
  ];
  projection.look();
  return async () => {
    for (const end of ends) end();
    await board.parts.activity.settled();
    await projection.stop();
  };
}

import { mkdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { writeFileAtomically } from '../../cards/registry/atomic-file.ts';
import { BoardUnavailableError } from '../../fabric/domain/errors.ts';
import type { TaskEvent } from '../../fabric/domain/events.ts';
import type { KanboardBoard } from '../../fabric/kanboard/kanboard-board.ts';
import { StampMemory, type RestoreGuard } from '../../fabric/kanboard/restore-guard.ts';
import type { Random } from '../../fabric/ports/random.ts';
import type { HomePaths } from '../home.ts';
import type { KanboardAccess } from '../kanboard-access.ts';

/** Where this home remembers what it has left on a board, beside the board's mirror. */
export const stampFile = (
  { boards }: HomePaths,
  { folder }: Pick<KanboardAccess, 'folder'>,
): string => join(boards, folder, 'stamp.json');

/** A file that is missing or broken remembers nothing: then no restored board can be told. */
export async function loadStamp(path: string, random: Random): Promise<StampMemory> {
  const text = await readFile(path, 'utf8').catch(() => '');
  const fresh = { home: random.hex(8), stamp: 0, unclear: [] };
  try {
    return StampMemory.safeParse(JSON.parse(text)).data ?? fresh;
  } catch {
    return fresh;
  }
}

export async function saveStamp(path: string, memory: StampMemory): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await writeFileAtomically(path, `${JSON.stringify(memory)}\n`, 0o600);
}

/** The board, with nothing taken from it and nothing written to it while `guard` holds it. */
export function guardedBoard(board: KanboardBoard, guard: RestoreGuard): KanboardBoard {
  const { parts } = board;
  return {
    ...board,
    start() {
      guard.start();
      board.start();
    },
    frozen: () => guard.known(),
    async list(queue, nowMs, limit) {
      return (await guard.why()) === undefined ? board.list(queue, nowMs, limit) : [];
    },
    async append(uid, version, event, durability) {
      const why = await guard.why();
      if (why !== undefined) {
        // What only this process has goes on: who waits on a line is served.
        const known = await board.known(uid);
        const isLocal = known ? parts.logs.isLocal(known.state) : isOfSync(event);
        if (!isLocal) throw new BoardUnavailableError(why);
      }
      return board.append(uid, version, event, durability);
    },
    async close() {
      await guard.stop();
      await board.close();
    },
  };
}

const isOfSync = (event: TaskEvent): boolean =>
  event.kind === 'submitted' && event.task.mode === 'sync';

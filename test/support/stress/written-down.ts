import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TaskBoard } from '../../../fabric/ports/task-board.ts';
import type { HistoryLine } from '../history-checker.ts';

const fileOf = (home: string): string => join(home, 'history.jsonl');

export function writeDown(home: string, line: HistoryLine): void {
  appendFileSync(fileOf(home), `${JSON.stringify(line)}\n`);
}

/** What the processes of a home learned, in the order in which they wrote it down. */
export function writtenDown(home: string): readonly HistoryLine[] {
  if (!existsSync(fileOf(home))) return [];
  const lines = readFileSync(fileOf(home), 'utf8').trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line) as HistoryLine);
}

/** The board, with each acknowledged event written down before anybody acts on it. */
export const witnessed = (home: string, board: TaskBoard): TaskBoard => ({
  ...board,
  async append(uid, version, event, durability) {
    const answer = await board.append(uid, version, event, durability);
    if (answer === 'appended' && durability !== 'buffered') {
      writeDown(home, { op: 'appended', uid, version, token: event.token });
    }
    return answer;
  },
});

import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, it, onTestFinished } from 'vitest';
import { TaskId } from '../../fabric/domain/ids.ts';
import { openEmbeddedBoard } from '../../fabric/embedded/embedded-board.ts';
import { builtProgram } from '../support/built-program.ts';
import { manualClock } from '../support/manual-clock.ts';
import { recordingLog } from '../support/recording-log.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

async function startLoad(
  path: string,
  inFlight = 32,
): Promise<{ child: ChildProcess; lines: LineSource }> {
  const child = spawn(process.execPath, [await builtProgram('board-load'), path, `${inFlight}`], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return { child, lines: createInterface({ input: child.stdout }) };
}

type LineSource = AsyncIterable<string>;

/** Kills the process with SIGKILL once it has told of `count` events; returns all it told. */
async function acknowledgedBeforeDeath(path: string, count: number): Promise<string[]> {
  const { child, lines } = await startLoad(path);
  const told: string[] = [];
  for await (const line of lines) {
    told.push(line);
    if (told.length === count) child.kill('SIGKILL');
  }
  return told.filter((line) => line !== 'ready');
}

const openAt = (path: string) =>
  openEmbeddedBoard({ path, clock: manualClock(), log: recordingLog() });

describe('kill -9 in the middle of load', () => {
  it('loses no acknowledged event, and leaves no half log', { timeout: 60_000 }, async () => {
    const path = join(await temporaryFolder(), 'mesh.db');
    const told: string[] = [];
    for (const count of [40, 333, 1_200]) {
      told.push(...(await acknowledgedBeforeDeath(path, count)));
      const board = await openAt(path);
      for (const line of told) {
        const [uid, version, token] = line.split(' ');
        const log = await board.read(TaskId.parse(uid));
        expect(log?.events[Number(version) - 1]?.token).toBe(token);
      }
      const { total } = await board.find({ limit: 1 });
      expect(await board.rebuildIndex()).toBe(total);
      await board.close();
    }
    expect(told.length).toBeGreaterThan(1_500);
  });
});

describe('a database that another process has open', () => {
  it('is refused with what to do, and free again at the death of that process', async () => {
    const path = join(await temporaryFolder(), 'mesh.db');
    const { child, lines } = await startLoad(path, 1);
    for await (const line of lines) if (line === 'ready') break;
    await expect(openAt(path)).rejects.toMatchObject({
      code: 'FABRIC_DOWN',
      message: expect.stringMatching(/another process has it open.*--board mesh:/) as string,
    });
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
    const board = await openAt(path);
    expect((await board.find({ limit: 1 })).total).toBeGreaterThanOrEqual(0);
    await board.close();
  });
});

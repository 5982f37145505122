import { setTimeout as after } from 'node:timers/promises';
import { TaskId } from '../fabric/domain/ids.ts';
import type { TaskBoard } from '../fabric/ports/task-board.ts';
import { remoteBoard } from '../fabric/remote/remote-board.ts';
import { systemClock } from '../fabric/telemetry/system-clock.ts';
import { makeBenchHome, queuedId, startBenchMesh } from './bench-mesh.ts';
import { figure, type BenchReport } from './figure.ts';
import { inFolder, median } from './life-cycle.ts';
import { headersFor, sendBody, type LoadTarget } from './load.ts';

const runs = 5;
const submits = 60;
const warmUps = 60;
const goalMs = 20;

/**
 * From the request of a client that does not wait to its run: through the front onto the board, from
 * there to a worker that a change wakes. The run's end stands for its start, which is durable before
 * it: the script takes no time. Both instants are of this machine's clock, in whole ms.
 */
export async function benchSubmitToStart(say: (text: string) => void): Promise<BenchReport> {
  return inFolder(async (folder) => {
    const { server, url, token, urlOf } = await startBenchMesh(await makeBenchHome(folder));
    const authorization = () => Promise.resolve(`Bearer ${token}`);
    const board = remoteBoard({ url, authorization, fetch, clock: systemClock });
    const target = { url: urlOf(queuedId), token };
    try {
      await waits(board, target, warmUps);
      const medians: number[] = [];
      for (let run = 1; run <= runs; run++) {
        say(`run ${run} of ${runs}`);
        medians.push(median(await waits(board, target, submits)));
      }
      const what = `submit to run started, p50 of ${submits}`;
      const figures = [figure(what, 'ms', medians, { atMost: goalMs })];
      return { bench: 'submit-to-start', peers: {}, figures };
    } finally {
      await board.close();
      await server.stop();
    }
  });
}

async function waits(board: TaskBoard, target: LoadTarget, count: number): Promise<number[]> {
  const took: number[] = [];
  for (let n = 0; n < count; n++) {
    const { params, ...envelope } = JSON.parse(sendBody()) as { params: object };
    const configuration = { returnImmediately: true };
    const body = JSON.stringify({ ...envelope, params: { ...params, configuration } });
    const atMs = systemClock.nowMs();
    const response = await fetch(target.url, { method: 'POST', headers: headersFor(target), body });
    const answer = (await response.json()) as { result?: { task?: { id?: unknown } } };
    const taskId = TaskId.parse(answer.result?.task?.id);
    took.push((await ranAtMs(board, taskId)) - atMs);
  }
  return took;
}

async function ranAtMs(board: TaskBoard, taskId: TaskId): Promise<number> {
  for (let tries = 0; tries < 500; tries++) {
    const log = await board.read(taskId);
    const settled = log?.events.find(({ kind }) => kind === 'settled');
    if (settled) return settled.atMs;
    await after(20);
  }
  throw new Error(`Task ${taskId} was not run within 10 s. Is ${queuedId} drained?`);
}

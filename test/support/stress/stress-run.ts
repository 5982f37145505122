import { spawn } from 'node:child_process';
import { hash } from 'node:crypto';
import { once } from 'node:events';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Random } from '../../../fabric/ports/random.ts';
import type { RunEnd, RunTask } from '../../../fabric/ports/run-task.ts';
import { seededRandom } from '../seeded-random.ts';
import { deedLine, doOutside, worldFile, type Deed } from './world.ts';

const pidFile = (home: string): string => join(home, 'pids.txt');

/** A real program a run, in a group of its own: it works for a while, acts outside, and ends. It may outlive us. */
export function stressRun(home: string, seed: number): RunTask {
  return async ({ state, fence, attempt }, signal) => {
    const { taskId: uid } = state;
    const random = seededRandom(seed ^ parseInt(hash('sha256', `${uid} ${fence}`).slice(0, 7), 16));
    const deed: Deed = { what: 'start', uid, fence, attempt };
    doOutside(home, deed);
    const act = deedLine({ ...deed, what: 'act' });
    const script = `sleep ${workSeconds(random)}; echo '${act}' >> '${worldFile(home)}'`;
    const child = spawn('/bin/sh', ['-c', script], { detached: true, stdio: 'ignore' });
    appendFileSync(pidFile(home), `${uid} ${fence} ${child.pid ?? 0}\n`);
    const kill = () => {
      endGroup(child.pid);
    };
    signal.addEventListener('abort', kill, { once: true });
    if (signal.aborted) kill();
    const [code] = (await once(child, 'exit')) as [number | null];
    signal.removeEventListener('abort', kill);
    return code === 0 ? endOf(random.fraction(), fence) : { kind: 'stopped' };
  };
}

const workSeconds = (random: Random): string => (0.05 + 1.5 * random.fraction() ** 3).toFixed(3);

function endOf(roll: number, fence: number): RunEnd {
  if (roll < 0.08) return { kind: 'failed', reason: 'exit 1', retryable: true };
  if (roll < 0.11) return { kind: 'uncertain', reason: 'the stream was cut' };
  if (roll < 0.16) {
    const options = ['yes', 'no'];
    return { kind: 'asked', question: { to: 'human', kind: 'gate', text: 'May I?', options } };
  }
  // Some are too long for rows of tags, and become files.
  const text = 'Read and found to be in order. '.repeat(roll < 0.22 ? 200 : 2);
  const about = { artifactId: 'answer', name: 'answer', mediaType: 'text/plain' };
  const artifacts = [{ ...about, bytes: text.length, text }];
  return { kind: 'done', outcome: { summary: `Done by fence ${fence}.`, artifacts } };
}

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}

/** As a person does who looks at what a lost run did: afterwards nothing of it goes on. */
export function endRunsOf(home: string, uid: string): void {
  if (!existsSync(pidFile(home))) return;
  for (const line of readFileSync(pidFile(home), 'utf8').trimEnd().split('\n')) {
    const [of, , pid] = line.split(' ');
    if (of === uid) endGroup(Number(pid));
  }
}

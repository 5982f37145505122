import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Card, CardRunner } from '../../cards/schema/card.ts';
import { limits } from '../../fabric/domain/limits.ts';
import type { Clock } from '../../fabric/ports/clock.ts';
import type { Log } from '../../fabric/ports/log.ts';
import type { Run, RunEnd, RunTask } from '../../fabric/ports/run-task.ts';
import type { RunSubprocess, SubprocessEnd } from '../executors/subprocess.ts';
import { causeIn } from './failure-cause.ts';
import { summaryOf } from './outcome-text.ts';
import { runnerEnvironment, withoutSecrets, type RunnerGrants } from './runner-environment.ts';
import {
  packetFor,
  readRunnerResult,
  runIdOf,
  type RunnerPacket,
  type RunnerResult,
} from './runner-packet.ts';

export interface RunnerDeps {
  readonly runSubprocess: RunSubprocess;
  readonly grants: RunnerGrants;
  /** Each run gets a folder of its own in here, 0700; it is kept only where the end was unclear. */
  readonly runsFolder: string;
  readonly clock: Clock;
  readonly log: Log;
}

const killAfterMs = 5_000;

/**
 * A program as an agent: one JSON packet on stdin, exactly one strict JSON object on stdout
 * (`reference/shapes.md`). What the contract does not allow becomes `uncertain`: nobody can say what such
 * a program did.
 */
export function runnerRuntime(card: Card, runner: CardRunner, deps: RunnerDeps): RunTask {
  return async (run, signal) => {
    const packet = packetFor(run);
    const stdin = `${JSON.stringify(packet)}\n`;
    if (Buffer.byteLength(stdin) > limits.runnerBytes) {
      return failed(
        `its packet has ${Buffer.byteLength(stdin)} bytes and a runner takes ${limits.runnerBytes}; ` +
          'shorten the task or name its material in contextRefs',
      );
    }
    const expiresAtMs = deps.clock.nowMs() + runner.timeoutMs + killAfterMs;
    const environment = await runnerEnvironment(card, run, deps.grants, expiresAtMs);
    if (!environment.ok) {
      const names = environment.missing.join(', ');
      return { kind: 'parked', reason: `${names} of its Card's env or secrets is not set here` };
    }
    const folder = await makeFolder(deps.runsFolder, run, stdin);
    const end = await deps.runSubprocess(
      specFor(runner, { stdin, env: environment.env, cwd: folder, mark: runIdOf(run) }),
      signal,
    );
    report(deps, run, end);
    const runEnd = await runEndOf(run, packet, end, environment.secrets, deps.clock);
    await tidy(folder, runEnd, end);
    return runEnd;
  };
}

const failed = (reason: string): RunEnd => ({ kind: 'failed', reason, retryable: false });

function specFor(
  { command, timeoutMs }: CardRunner,
  given: Record<'stdin' | 'cwd' | 'mark', string> & { readonly env: Record<string, string> },
): Parameters<RunSubprocess>[0] {
  const [file = '', ...args] = command;
  const bounds = { maxStdoutBytes: limits.runnerBytes, maxStderrBytes: limits.runnerBytes };
  return { file, args, ...given, ...bounds, timeoutMs, killAfterMs };
}

async function makeFolder(runsFolder: string, run: Run, packet: string): Promise<string> {
  const folder = join(runsFolder, runIdOf(run));
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeFile(join(folder, 'packet.json'), packet, { mode: 0o600 });
  return folder;
}

/** What went as agreed leaves nothing behind; the rest is for whoever must find out what it did. */
async function tidy(folder: string, runEnd: RunEnd, end: SubprocessEnd): Promise<void> {
  const unclear = runEnd.kind === 'uncertain' || runEnd.kind === 'failed';
  if (!unclear || end.kind === 'spawn-failed') {
    await rm(folder, { recursive: true, force: true });
    return;
  }
  await writeFile(join(folder, 'stdout.txt'), end.stdout, { mode: 0o600 });
  await writeFile(join(folder, 'stderr.txt'), end.stderrTail, { mode: 0o600 });
}

function report({ log }: RunnerDeps, run: Run, end: SubprocessEnd): void {
  const about = { taskId: run.state.taskId, fence: run.fence, agent: run.agentId, end: end.kind };
  if (end.kind === 'spawn-failed') log.error('runner.spawn-failed', about);
  else if (end.survivors.length > 0) {
    log.error('runner.survivors', { ...about, pids: end.survivors.join(',') });
  } else log.info('runner.ended', { ...about, strays: end.strays });
}

async function runEndOf(
  run: Run,
  packet: RunnerPacket,
  end: SubprocessEnd,
  secrets: readonly string[],
  clock: Clock,
): Promise<RunEnd> {
  switch (end.kind) {
    case 'spawn-failed':
      return {
        kind: 'parked',
        reason: `its program does not start; correct its Card (${end.reason})`,
      };
    case 'stopped':
      return { kind: 'stopped' };
    case 'timed-out':
      return brokenOff('its program gave no result in time', end, secrets);
    case 'output-too-large':
      return uncertain(`its program wrote more than ${limits.runnerBytes} bytes to stdout`);
    case 'signaled':
      return brokenOff(`its program died by ${end.signal}`, end, secrets);
    case 'exited':
      break;
  }
  if (end.exitCode !== 0) return brokenOff(`its program ended with ${end.exitCode}`, end, secrets);
  if (end.stderrTruncated) {
    return uncertain(`its program wrote more than ${limits.runnerBytes} bytes to stderr`);
  }
  if (!end.stdoutIsUtf8) return uncertain('its output is not UTF-8');
  const reading = readRunnerResult(end.stdout, packet, clock.nowMs());
  return reading.ok ? endOfResult(run, masked(reading.result, secrets)) : uncertain(reading.reason);
}

/** With what the program itself said of it: the last that people see of its stderr. */
function brokenOff(
  what: string,
  { stderrTail }: { readonly stderrTail: string },
  secrets: readonly string[],
): RunEnd {
  const cause = causeIn(withoutSecrets(stderrTail, secrets)).slice(0, 300);
  return { kind: 'failed', reason: cause === '' ? what : `${what}: ${cause}`, retryable: true };
}

/** After decoding: an escaped secret would slip through before it. */
function masked(result: RunnerResult, secrets: readonly string[]): RunnerResult {
  const { summary, decision_prompt: prompt } = result;
  return {
    ...result,
    summary: withoutSecrets(summary, secrets),
    ...(prompt !== undefined && { decision_prompt: withoutSecrets(prompt, secrets) }),
  };
}

const uncertain = (reason: string): RunEnd => ({ kind: 'uncertain', reason });

async function endOfResult(run: Run, result: RunnerResult): Promise<RunEnd> {
  const { status, summary } = result;
  switch (status) {
    case 'completed': {
      const answer = await run.artifact('answer', 'text/markdown', summary);
      return { kind: 'done', outcome: { summary: summaryOf(summary), artifacts: [answer] } };
    }
    case 'scheduled':
      run.progress(summaryOf(summary));
      return { kind: 'deferred', wakeAtMs: Date.parse(result.wake_at ?? '') };
    case 'waiting_event':
      run.progress(summaryOf(summary));
      return { kind: 'awaited', eventId: result.event_id ?? '' };
    case 'waiting_user':
      return asked(result.decision_prompt ?? '');
    case 'needs_review':
      return uncertain(summaryOf(summary));
  }
}

const asked = (text: string): RunEnd => ({
  kind: 'asked',
  question: { kind: 'question', to: 'submitter', text, options: [] },
});

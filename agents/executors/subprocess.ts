import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { reasonOf } from '../../fabric/domain/errors.ts';
import type { Clock } from '../../fabric/ports/clock.ts';
import { headCapture, tailCapture, type OutputCapture } from './output-capture.ts';
import { canFindStrays, killMarked, runMarkVariable, sendSignal } from './run-mark.ts';

export interface SubprocessSpec {
  /** Program, found in `env.PATH` where it is no path. No shell. */
  readonly file: string;
  /** Seen by every user of the machine: no prompt, no secret. */
  readonly args: readonly string[];
  /** Written whole and then closed; the place for the prompt. */
  readonly stdin: string;
  /** Everything the child gets, beside its mark. Nothing is inherited. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly timeoutMs: number;
  /** Longest silence on both outputs; absent: only the deadline counts. */
  readonly stallMs?: number;
  /** From the polite signal to the hard one. */
  readonly killAfterMs: number;
  /** More is a failure of the run: it is stopped. */
  readonly maxStdoutBytes: number;
  /** Of more only the end is kept. */
  readonly maxStderrBytes: number;
  /** Unique among runs; `MESH_RUN_MARK` of the child and of all it starts. */
  readonly mark: string;
}

export interface SubprocessOutput {
  readonly stdout: string;
  readonly stdoutTruncated: boolean;
  readonly stdoutIsUtf8: boolean;
  readonly stderrTail: string;
  readonly stderrTruncated: boolean;
  /** Processes that outlived the first one and were killed. */
  readonly strays: number;
  /** Process ids that could not be killed within 5 s; a person must look. */
  readonly survivors: readonly number[];
}

/** How a child ended; a closed list. */
export type SubprocessEnd =
  | (SubprocessOutput & { readonly kind: 'exited'; readonly exitCode: number })
  | (SubprocessOutput & { readonly kind: 'signaled'; readonly signal: NodeJS.Signals })
  | (SubprocessOutput & { readonly kind: 'timed-out'; readonly limit: 'deadline' | 'silence' })
  | (SubprocessOutput & { readonly kind: 'stopped' })
  | (SubprocessOutput & { readonly kind: 'output-too-large' })
  /** Nothing ran. */
  | { readonly kind: 'spawn-failed'; readonly reason: string };

/** Runs one child to its end, with everything it started. Rejects only for a bug of ours. */
export type RunSubprocess = (spec: SubprocessSpec, signal: AbortSignal) => Promise<SubprocessEnd>;

type Cut = 'deadline' | 'silence' | 'stopped' | 'output';

/** How long a pipe that a stray holds open may delay the end, and a sweep may take. */
const drainMs = 2_000;
const sweepMs = 5_000;

/**
 * The only spawn of the product: own process group, prompt on stdin, a deadline, TERM then KILL, and
 * after every run, good ones too, a sweep for processes that carry the run's mark
 * (`reference/executors.md` 8; bug log G-15).
 */
export function subprocessRunner({ clock }: { readonly clock: Clock }): RunSubprocess {
  return async (spec, signal) => {
    if (!canFindStrays())
      return spawnFailed('this host has no /proc, so strays could not be found');
    if (signal.aborted) return { kind: 'stopped', ...nothing };
    const started = await start(spec);
    if ('reason' in started) return spawnFailed(started.reason);
    return runStarted(clock, started.child, spec, signal);
  };
}

const spawnFailed = (reason: string): SubprocessEnd => ({ kind: 'spawn-failed', reason });

const nothing: SubprocessOutput = {
  stdout: '',
  stdoutTruncated: false,
  stdoutIsUtf8: true,
  stderrTail: '',
  stderrTruncated: false,
  strays: 0,
  survivors: [],
};

async function start(
  spec: SubprocessSpec,
): Promise<{ readonly child: ChildProcessWithoutNullStreams } | { readonly reason: string }> {
  try {
    const child = spawn(spec.file, spec.args, {
      cwd: spec.cwd,
      env: { ...spec.env, [runMarkVariable]: spec.mark },
      detached: true,
      stdio: 'pipe',
    });
    // A child that never reads its input must not end the mesh by EPIPE.
    child.stdin.on('error', () => undefined);
    await once(child, 'spawn');
    return { child };
  } catch (error) {
    return { reason: `${spec.file} did not start: ${reasonOf(error)}` };
  }
}

async function runStarted(
  clock: Clock,
  child: ChildProcessWithoutNullStreams,
  spec: SubprocessSpec,
  signal: AbortSignal,
): Promise<SubprocessEnd> {
  const out = headCapture(spec.maxStdoutBytes);
  const err = tailCapture(spec.maxStderrBytes);
  const closed = once(child, 'close');
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const watched = watch(clock, child, spec, { signal, out, err });
  child.stdin.end(spec.stdin);
  await Promise.race([exited, watched.givenUp]);
  watched.end();
  // The group first: it holds what wiped its environment.
  if (child.pid !== undefined) sendSignal(-child.pid, 'SIGKILL');
  const drained = new AbortController();
  const [sweep] = await Promise.all([
    killMarked(spec.mark, clock, sweepMs),
    Promise.race([closed, clock.sleep(drainMs, drained.signal)]),
  ]);
  drained.abort();
  child.stdout.destroy();
  child.stderr.destroy();
  const output = outputOf(out, err, sweep.killed, sweep.survivors);
  return endOf(child, watched.cut(), output);
}

function outputOf(
  out: OutputCapture,
  err: OutputCapture,
  strays: number,
  survivors: readonly number[],
): SubprocessOutput {
  const [stdout, stderr] = [out.text(), err.text()];
  return {
    stdout: stdout.text,
    stdoutTruncated: stdout.truncated,
    stdoutIsUtf8: stdout.isUtf8,
    stderrTail: stderr.text,
    stderrTruncated: stderr.truncated,
    strays,
    survivors,
  };
}

function endOf(
  child: ChildProcessWithoutNullStreams,
  cut: Cut | undefined,
  output: SubprocessOutput,
): SubprocessEnd {
  switch (cut) {
    case 'deadline':
    case 'silence':
      return { kind: 'timed-out', limit: cut, ...output };
    case 'stopped':
      return { kind: 'stopped', ...output };
    case 'output':
      return { kind: 'output-too-large', ...output };
    case undefined:
      // The last piece may have come with the exit itself.
      if (output.stdoutTruncated) return { kind: 'output-too-large', ...output };
      return child.signalCode === null
        ? { kind: 'exited', exitCode: child.exitCode ?? -1, ...output }
        : { kind: 'signaled', signal: child.signalCode, ...output };
  }
}

interface Watched {
  /** Why it was told to stop, the first reason; undefined: it ended by itself. */
  cut(): Cut | undefined;
  /** Resolves when even the hard signal did not end it. */
  readonly givenUp: Promise<void>;
  end(): void;
}

/** Feeds the captures and stops the child at its deadline, in a stall, past its bound or when told. */
function watch(
  clock: Clock,
  child: ChildProcessWithoutNullStreams,
  spec: SubprocessSpec,
  { signal, out, err }: Record<'out' | 'err', OutputCapture> & { readonly signal: AbortSignal },
): Watched {
  const ended = new AbortController();
  let giveUp = (): void => undefined;
  const givenUp = new Promise<void>((resolve) => (giveUp = resolve));
  let cut: Cut | undefined;
  let heardAtMs = clock.monotonicMs();
  const stop = (reason: Cut) => {
    if (ended.signal.aborted || cut !== undefined) return;
    cut = reason;
    void terminate(clock, child, spec, ended.signal).then(giveUp);
  };
  const hear = (capture: OutputCapture) => (piece: Buffer) => {
    heardAtMs = clock.monotonicMs();
    capture.add(piece);
    if (out.seenBytes() > spec.maxStdoutBytes) stop('output');
  };
  child.stdout.on('data', hear(out));
  child.stderr.on('data', hear(err));
  const onAbort = () => stop('stopped');
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) stop('stopped');
  void clock.sleep(spec.timeoutMs, ended.signal).then(() => stop('deadline'));
  if (spec.stallMs !== undefined) {
    void silence(clock, spec.stallMs, () => heardAtMs, ended.signal).then(() => stop('silence'));
  }
  return {
    cut: () => cut,
    givenUp,
    end: () => {
      ended.abort();
      signal.removeEventListener('abort', onAbort);
    },
  };
}

/** TERM to the group, KILL after the grace; resolves when the KILL had no effect for a while. */
async function terminate(
  clock: Clock,
  child: ChildProcessWithoutNullStreams,
  { killAfterMs }: SubprocessSpec,
  ended: AbortSignal,
): Promise<void> {
  if (child.pid === undefined) return;
  sendSignal(-child.pid, 'SIGTERM');
  await clock.sleep(killAfterMs, ended);
  if (ended.aborted) return;
  sendSignal(-child.pid, 'SIGKILL');
  await clock.sleep(sweepMs, ended);
}

async function silence(
  clock: Clock,
  stallMs: number,
  heardAtMs: () => number,
  ended: AbortSignal,
): Promise<void> {
  while (!ended.aborted) {
    const leftMs = heardAtMs() + stallMs - clock.monotonicMs();
    if (leftMs <= 0) return;
    await clock.sleep(leftMs, ended);
  }
}

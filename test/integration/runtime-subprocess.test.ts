import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { markedProcesses } from '../../agents/executors/run-mark.ts';
import { subprocessRunner, type SubprocessSpec } from '../../agents/executors/subprocess.ts';
import { systemClock } from '../../fabric/telemetry/system-clock.ts';

const fakeCli = join(import.meta.dirname, '../fixtures/runners/fake-cli.mjs');
const runSubprocess = subprocessRunner({ clock: systemClock });
const never = new AbortController().signal;
let marks = 0;

function spec(args: readonly string[], change: Partial<SubprocessSpec> = {}): SubprocessSpec {
  marks += 1;
  return {
    file: process.execPath,
    args: [fakeCli, ...args],
    stdin: '',
    env: { PATH: process.env['PATH'] ?? '', LANG: 'C.UTF-8' },
    cwd: tmpdir(),
    timeoutMs: 15_000,
    killAfterMs: 1_000,
    maxStdoutBytes: 64 * 1024,
    maxStderrBytes: 64 * 1024,
    mark: `test-${process.pid}-${marks}`,
    ...change,
  };
}

const run = (args: readonly string[], change: Partial<SubprocessSpec> = {}) =>
  runSubprocess(spec(args, change), never);

/** Resolves when the child of `mark` is up. */
async function untilRunning(mark: string): Promise<void> {
  while ((await markedProcesses(mark)).length === 0) await systemClock.sleep(10);
}

describe('a child that ends by itself', () => {
  it('gets its prompt on stdin, byte for byte, and never in argv', async () => {
    const prompt = `first line\nsecond: ${'ü€😀'.repeat(2_000)}\r\n$(touch /tmp/never) \`x\``;
    const end = await run(['echo'], { stdin: prompt });
    expect(end).toMatchObject({ kind: 'exited', exitCode: 0, stdout: prompt });
  });

  it('gets exactly the environment that was given, and its mark', async () => {
    const given = spec(['environment'], { env: { PATH: '/usr/bin:/bin', LANG: 'C' } });
    const end = await runSubprocess(given, never);
    const seen: unknown = JSON.parse(end.kind === 'exited' ? end.stdout : '{}');
    expect(seen).toEqual({ PATH: '/usr/bin:/bin', LANG: 'C', MESH_RUN_MARK: given.mark });
  });

  it('is given its arguments as they are, without a shell', async () => {
    const end = await run(['argv', '$(id); "quoted" *']);
    expect(end).toMatchObject({ stdout: JSON.stringify(['argv', '$(id); "quoted" *']) });
  });

  it('runs in its folder', async () => {
    expect(await run(['cwd'], { cwd: '/' })).toMatchObject({ stdout: '/' });
  });

  it('may leave a large input unread', async () => {
    const end = await run(['ignore-input'], { stdin: 'x'.repeat(4_000_000) });
    expect(end).toMatchObject({ kind: 'exited', exitCode: 0, stdout: 'done' });
  });

  it.each([[1], [3], [143]])('keeps exit code %i and what was said last', async (code) => {
    const end = await run(['exit', String(code)]);
    expect(end).toMatchObject({ kind: 'exited', exitCode: code, stderrTail: 'about to fail' });
  });

  it.each([['SIGKILL'], ['SIGSEGV']])('tells an end by %s from an exit', async (signal) => {
    expect(await run(['signal', signal])).toMatchObject({ kind: 'signaled', signal });
  });

  it('keeps a last piece that came with the exit', async () => {
    const end = await run(['last-line']);
    expect(end.kind === 'exited' && end.stdout.endsWith('xLAST')).toBe(true);
  });

  it('joins characters that came byte by byte', async () => {
    expect(await run(['byte-by-byte', 'aü€😀z'])).toMatchObject({ stdout: 'aü€😀z' });
  });

  it('says that bytes were no UTF-8', async () => {
    const end = await run(['broken']);
    expect(end).toMatchObject({ stdout: 'a\ufffdb', stdoutIsUtf8: false });
  });
});

describe('a child that does not start', () => {
  it.each([
    ['an unknown program', { file: 'no-such-program-here' }, /no-such-program-here did not start/],
    ['a folder that is not there', { cwd: '/no/such/folder' }, /did not start/],
    ['a folder in its place', { file: '/etc' }, /did not start/],
    ['an argument that is none', { args: ['a\0b'] }, /did not start/],
    ['an argument list too long', { args: ['x'.repeat(3_000_000)] }, /did not start/],
  ])('is told for %s', async (_what, change, reason) => {
    const end = await run(['echo'], change);
    expect(end.kind === 'spawn-failed' && end.reason).toMatch(reason);
  });

  it('is not started after the run was told to stop', async () => {
    const end = await runSubprocess(
      spec(['echo'], { file: 'no-such-program' }),
      AbortSignal.abort(),
    );
    expect(end).toMatchObject({ kind: 'stopped', stdout: '' });
  });
});

describe('bounds', () => {
  it.each([
    [64 * 1024, 'exited', false],
    [64 * 1024 + 1, 'output-too-large', true],
  ] as const)('%i bytes of stdout: %s', async (bytes, kind, truncated) => {
    const end = await run(['bytes', String(bytes)]);
    expect(end).toMatchObject({ kind, stdoutTruncated: truncated });
    expect('stdout' in end && end.stdout.length).toBe(64 * 1024);
  });

  it('ends a flood and keeps no more than its bound', async () => {
    const end = await run(['flood'], { maxStdoutBytes: 1_000 });
    expect(end).toMatchObject({ kind: 'output-too-large', stdout: 'x'.repeat(1_000) });
  });

  it('keeps the end of a noisy stderr and lets the run go on', async () => {
    const end = await run(['noise', '5000000'], { maxStderrBytes: 1_000 });
    expect(end).toMatchObject({ kind: 'exited', exitCode: 0, stderrTruncated: true });
    expect('stderrTail' in end && end.stderrTail).toBe(`${'x'.repeat(997)}END`);
  });

  it.each([[1], [2], [3], [4], [5], [6], [7]])(
    'cuts no character at a bound of %i bytes',
    async (maxStdoutBytes) => {
      const end = await run(['byte-by-byte', 'aü€😀'], { maxStdoutBytes });
      const kept = 'stdout' in end ? end.stdout : '';
      expect('aü€😀'.startsWith(kept)).toBe(true);
      expect(end).toMatchObject({ kind: 'output-too-large', stdoutIsUtf8: true });
    },
  );

  it('ends at the deadline', async () => {
    const end = await run(['polite'], { timeoutMs: 600 });
    expect(end).toMatchObject({ kind: 'timed-out', limit: 'deadline', stdout: 'started' });
  });

  it('ends a silence, not a slow talker', async () => {
    const quiet = { stallMs: 500 };
    const [hung, talker] = [await run(['hang'], quiet), await run(['ticks', '15'], quiet)];
    expect(hung).toMatchObject({ kind: 'timed-out', limit: 'silence' });
    expect(talker).toMatchObject({ kind: 'exited', stdout: '.'.repeat(15) });
  });

  it('kills what does not listen to TERM, after the grace', async () => {
    const startedMs = performance.now();
    const end = await run(['stubborn'], { timeoutMs: 600, killAfterMs: 400 });
    expect(end).toMatchObject({ kind: 'timed-out', stdout: 'started' });
    expect(performance.now() - startedMs).toBeGreaterThan(900);
  });

  it.each([['hang'], ['stubborn'], ['polite']])('stops %s when told', async (mode) => {
    const stop = new AbortController();
    const given = spec([mode], { killAfterMs: 300 });
    const ending = runSubprocess(given, stop.signal);
    await untilRunning(given.mark);
    stop.abort();
    expect(await ending).toMatchObject({ kind: 'stopped' });
    expect(await markedProcesses(given.mark)).toEqual([]);
  });
});

describe('strays (bug log G-15)', () => {
  let handlesBefore = 0;
  afterEach(() => {
    expect(readdirSync('/proc/self/fd').length).toBeLessThanOrEqual(handlesBefore + 2);
  });

  it.each([
    ['children', 'exited', {}],
    ['children-fail', 'exited', {}],
    ['children-hang', 'timed-out', { timeoutMs: 1_500 }],
    ['children-flood', 'output-too-large', {}],
  ] as const)('none is left after %s (%s)', async (mode, kind, change) => {
    handlesBefore = readdirSync('/proc/self/fd').length;
    const given = spec([mode], change);
    const end = await runSubprocess(given, never);
    expect(end).toMatchObject({ kind, survivors: [] });
    // The plain child goes with its group; the two that left it are found by their mark.
    expect('strays' in end && end.strays).toBeGreaterThanOrEqual(2);
    expect(await markedProcesses(given.mark)).toEqual([]);
  });

  it('does not wait more than 2 s for a pipe that somebody holds', async () => {
    handlesBefore = readdirSync('/proc/self/fd').length;
    const startedMs = performance.now();
    expect(await run(['wiped'])).toMatchObject({ kind: 'exited', exitCode: 0 });
    expect(performance.now() - startedMs).toBeLessThan(5_000);
  });

  it('finds a mark only as a whole entry', async () => {
    handlesBefore = readdirSync('/proc/self/fd').length;
    const given = spec(['children-hang'], { mark: `long-${process.pid}-10` });
    const stop = new AbortController();
    const ending = runSubprocess(given, stop.signal);
    await untilRunning(given.mark);
    expect(await markedProcesses(`long-${process.pid}-1`)).toEqual([]);
    stop.abort();
    expect(await ending).toMatchObject({ kind: 'stopped', survivors: [] });
  });
});

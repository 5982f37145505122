import { limits } from '../../fabric/domain/limits.ts';
import type { Delivery, Notice, Notifier } from '../../fabric/ports/notifier.ts';
import { deliveryProvenBy, noticePacket } from './notice-packet.ts';

/** One run of a program, as the product's only spawn makes it (`agents/executors/subprocess.ts`). */
export type RunProgram = (
  spec: {
    readonly file: string;
    readonly args: readonly string[];
    readonly stdin: string;
    readonly env: Readonly<Record<string, string>>;
    readonly cwd: string;
    readonly timeoutMs: number;
    readonly killAfterMs: number;
    readonly maxStdoutBytes: number;
    readonly maxStderrBytes: number;
    readonly mark: string;
  },
  signal: AbortSignal,
) => Promise<ProgramEnd>;

type ProgramEnd =
  | { readonly kind: 'exited'; readonly exitCode: number; readonly stdout: string }
  | { readonly kind: 'spawn-failed'; readonly reason: string }
  | { readonly kind: 'signaled' | 'timed-out' | 'stopped' | 'output-too-large' };

export interface CommandNotifierOptions {
  /** argv, no shell. */
  readonly command: readonly [string, ...string[]];
  readonly address: string | undefined;
  /** Everything the program gets. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly run: RunProgram;
  readonly timeoutMs?: number;
}

/** `EX_TEMPFAIL` of sysexits: the only exit code by which a program says that nothing was sent. */
const nothingSent = 75;

/** A program that the operator trusts: the packet on stdin, its receipt as JSON on stdout. */
export function commandNotifier(options: CommandNotifierOptions): Notifier {
  return {
    transport: 'command',
    send: (notice) => run(notice, options),
  };
}

async function run(
  notice: Notice,
  {
    command: [file, ...args],
    address,
    env,
    cwd,
    run: runProgram,
    timeoutMs = limits.noticeMs,
  }: CommandNotifierOptions,
): Promise<Delivery> {
  const spec = {
    ...{ file, args, env, cwd, stdin: noticePacket(notice, address), mark: notice.noticeId },
    ...{ timeoutMs, killAfterMs: 1_000 },
    ...{ maxStdoutBytes: limits.noticeAnswerBytes, maxStderrBytes: limits.noticeAnswerBytes },
  };
  // Its time is bounded; cut short by a stop of the mesh, nobody would know what it did.
  const end = await runProgram(spec, new AbortController().signal);
  if (end.kind === 'spawn-failed') return { outcome: 'failed', reason: end.reason };
  if (end.kind !== 'exited')
    return { outcome: 'unknown', reason: `its program ended: ${end.kind}` };
  if (end.exitCode === 0) return deliveryProvenBy(end.stdout, notice);
  const outcome = end.exitCode === nothingSent ? 'failed' : 'unknown';
  return { outcome, reason: `its program exited with ${end.exitCode}` };
}

import { failureOf } from './failure.ts';
import { interruptionOfProcess, type InterruptedError } from './interruption.ts';
import { buildProgram, withoutHelpVerb } from './program.ts';
import type { GlobalOptions, Result, Session } from './session.ts';
import { processTerminal, type Terminal } from './terminal.ts';

/**
 * Runs `mesh` with `args` on this process's streams.
 * @returns the exit code (`docs/cli.md`); it never rejects
 */
export async function runCommandLine(args: readonly string[]): Promise<number> {
  const terminal = processTerminal(!args.includes('--no-color'));
  const signal = interruptionOfProcess();
  const run: CommandRun = { hint: undefined, exitCode: 0 };
  const program = buildProgram({
    terminal,
    runVerb: (globals, work) => runVerb(run, terminal, signal, globals, work),
  });
  try {
    await program.parseAsync(withoutHelpVerb(args), { from: 'user' });
    return run.exitCode;
  } catch (error) {
    const failure = failureOf(error, run.hint);
    const { json = false } = program.opts<GlobalOptions>();
    if (failure.line !== undefined) terminal.err(`${failure.line}\n`);
    if (json && failure.exitCode !== 0) terminal.out(`${JSON.stringify(failure.data)}\n`);
    return failure.exitCode;
  }
}

interface CommandRun {
  hint: string | undefined;
  exitCode: number;
}

async function runVerb(
  run: CommandRun,
  terminal: Terminal,
  signal: AbortSignal,
  globals: GlobalOptions,
  work: (session: Session) => Promise<Result>,
): Promise<void> {
  const [{ openSession }, { systemClock }, { systemRandom }] = await Promise.all([
    import('./session.ts'),
    import('../fabric/telemetry/system-clock.ts'),
    import('../fabric/telemetry/system-random.ts'),
  ]);
  const session = openSession(globals, {
    terminal,
    signal,
    clock: systemClock,
    random: systemRandom,
    openMesh: async (options) => (await import('./in-process.ts')).openMesh(options),
  });
  try {
    const result = await work(session);
    run.exitCode = result.exitCode ?? 0;
    if (result.silent) return;
    const { out } = session.terminal;
    if (globals.json) out(`${JSON.stringify(result.data, undefined, 2)}\n`);
    else if (result.text !== '') out(`${result.text}\n`);
  } catch (error) {
    // Whatever a fetch or a wait says about being stopped, it was Ctrl-C.
    if (signal.aborted) throw signal.reason as InterruptedError;
    throw error;
  } finally {
    run.hint = session.hint;
    await session.close();
  }
}

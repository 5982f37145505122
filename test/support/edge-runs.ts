import type { Run, RunEnd, RunTask } from '../../fabric/ports/run-task.ts';

/** The end of a run that made one text artifact. */
export async function answered(run: Run, text: string, summary = 'Done.'): Promise<RunEnd> {
  const artifact = await run.artifact('answer', 'text/plain', text);
  return { kind: 'done', outcome: { summary, artifacts: [artifact] } };
}

/** Answers at once with what it was asked, in capitals. */
export const shout: RunTask = (run) => answered(run, run.state.task.intent.body.toUpperCase());

/** A run that a test leads: it waits for `finish`, and says what its signal told it. */
export interface LedRun {
  readonly runTask: RunTask;
  /** The run that has begun; resolves once there is one. */
  readonly begun: Promise<Run>;
  readonly starts: () => number;
  readonly wasTold: () => boolean;
  finish(end: RunEnd): void;
}

export function ledRun(): LedRun {
  let begin: (run: Run) => void = () => {};
  let end: (how: RunEnd) => void = () => {};
  const begun = new Promise<Run>((resolve) => (begin = resolve));
  const ended = new Promise<RunEnd>((resolve) => (end = resolve));
  let starts = 0;
  let told = false;
  return {
    begun,
    starts: () => starts,
    wasTold: () => told,
    finish: (how) => end(how),
    runTask: async (run, signal) => {
      starts += 1;
      begin(run);
      const stopped = new Promise<RunEnd>((resolve) => {
        signal.addEventListener('abort', () => {
          told = true;
          resolve({ kind: 'stopped' });
        });
      });
      return Promise.race([ended, stopped]);
    },
  };
}

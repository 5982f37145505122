/** Ctrl-C (or TERM) while a command was at work. */
export class InterruptedError extends Error {
  readonly signal: 'SIGINT' | 'SIGTERM';

  constructor(signal: 'SIGINT' | 'SIGTERM') {
    super('Interrupted.');
    this.name = 'InterruptedError';
    this.signal = signal;
  }
}

/**
 * Aborts at the first Ctrl-C or TERM, so that the verb can say how to go on; the second one ends
 * the process as ever.
 */
export function interruptionOfProcess(): AbortSignal {
  const controller = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      controller.abort(new InterruptedError(signal));
    });
  }
  return controller.signal;
}

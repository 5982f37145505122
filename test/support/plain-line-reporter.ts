import type { Reporter, SerializedError, TestModule } from 'vitest/node';

/**
 * Ends a run with one plain line, `12 passed, 0 failed, 3 skipped`, alone on its line and without
 * colours, for CI to read. A file that could not be loaded, and an error outside all tests, count
 * as failed, so that the line never says 0 where the run failed.
 */
export default class PlainLineReporter implements Reporter {
  readonly #write: (text: string) => void;

  constructor({ write = (text: string) => void process.stdout.write(text) } = {}) {
    this.#write = write;
  }

  onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[]): void {
    const count = { passed: 0, failed: errors.length, skipped: 0 };
    for (const module of modules) {
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        count[state === 'pending' ? 'skipped' : state] += 1;
      }
      count.failed += module.errors().length;
    }
    const skipped = count.skipped === 0 ? '' : `, ${count.skipped} skipped`;
    this.#write(`\n${count.passed} passed, ${count.failed} failed${skipped}\n`);
  }
}

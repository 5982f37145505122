import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';
import { builtProgram } from '../built-program.ts';

export interface LineProcess {
  readonly child: ChildProcess;
  /** The next line that it says. Rejects where it ends instead. */
  nextLine(): Promise<string>;
  tell(line: string): void;
}

/** A program of ours that is talked with line by line; it is gone at the end of the test. */
export async function startLineProcess(
  program: Parameters<typeof builtProgram>[0],
  order: object,
): Promise<LineProcess> {
  const args = [await builtProgram(program), JSON.stringify(order)];
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    child,
    async nextLine() {
      const next: IteratorResult<string, unknown> = await lines.next();
      if (next.done === true) throw new Error(`${program} ended instead of saying something`);
      return next.value;
    },
    tell: (line) => void child.stdin.write(`${line}\n`),
  };
}

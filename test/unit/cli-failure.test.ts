import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CommanderError } from 'commander';
import { describe, expect, it } from 'vitest';
import { exitCodeOf, exitCodes } from '../../cli/exit-codes.ts';
import { failureOf } from '../../cli/failure.ts';
import { InterruptedError } from '../../cli/interruption.ts';
import { MeshError, meshErrorCodes } from '../../fabric/domain/errors.ts';

const page = readFileSync(join(import.meta.dirname, '../../docs/cli.md'), 'utf8');

describe('exit codes', () => {
  it('gives each error of the mesh a code that nothing else has', () => {
    const own = new Set<number>(Object.values(exitCodes));
    for (const code of meshErrorCodes) {
      const exitCode = failureOf(new MeshError(code, 'No.')).exitCode;
      expect(exitCode).toBe(exitCodeOf[code]);
      expect(own.has(exitCode), code).toBe(false);
    }
  });

  it('stands in docs/cli.md, each with its number', () => {
    const rows = page.split('\n').filter((line) => /^\| \d+ +\|/.test(line));
    const documented = new Map(rows.map((line) => [Number(/\d+/.exec(line)?.[0]), line]));
    for (const code of meshErrorCodes)
      expect(documented.get(exitCodeOf[code])).toContain(`\`${code}\``);
    for (const exitCode of Object.values(exitCodes)) expect(documented.has(exitCode)).toBe(true);
  });

  it('prints an error as one line, with its code, without what could move the cursor', () => {
    const error = new MeshError('NOT_FOUND', 'No task \u001b[2Jx. See `mesh tasks`.', {
      path: 'task',
    });
    const failure = failureOf(error);
    expect(failure.line).toBe('mesh: No task x. See `mesh tasks`. (NOT_FOUND)');
    expect(failure.data.error).toMatchObject({ code: 'NOT_FOUND', path: 'task' });
  });

  it('names a task by its first digits in the line, whole in the facts', () => {
    const taskId = '1a2b3c4d'.repeat(4);
    const failure = failureOf(
      new MeshError('BAD_TRANSITION', `Task ${taskId} does not take it.`, { taskId }),
    );
    expect(failure.line).toBe('mesh: Task 1a2b3c4d does not take it. (BAD_TRANSITION)');
    expect(failure.data.error).toMatchObject({ taskId });
  });

  it.each([
    ['params.message.metadata["urn:x:submit"].contextRefs[0]: is none', '--ref: is none'],
    ['params.message.metadata["urn:x:submit"].acceptance: is long', '--acceptance: is long'],
    ['params.message.metadata["urn:x:submit"].execution.model: no', '--model: no'],
    ['params.message.parts[0].text: is empty (and 1 more)', 'the text: is empty (and 1 more)'],
    ['params.target.need.skill: no', '--skill: no'],
    ['params.value: must have 1 character', 'the answer: must have 1 character'],
    ['params.unheard.of: no', 'params.unheard.of: no'],
    ['The params are wrong.', 'The params are wrong.'],
  ])('says %j in the words of the command line', (message, words) => {
    const { line, data } = failureOf(new MeshError('VALIDATION_ERROR', message));
    expect(line).toBe(`mesh: ${words} (VALIDATION_ERROR)`);
    expect(data.error.message).toBe(words);
  });

  it('begins no JSON of a wrong command line with "error:"', () => {
    const error = new CommanderError(1, 'commander.unknownOption', "error: unknown option '--x'");
    expect(failureOf(error).data.error.message).toBe("unknown option '--x'");
  });

  it('keeps the stack of a fault to itself and says what to do', () => {
    const { exitCode, line } = failureOf(new TypeError('x is not a function'));
    expect(exitCode).toBe(1);
    expect(line).toMatch(
      /^mesh: This is a fault of the mesh: x is not a function\. Run `mesh doctor`/,
    );
    expect(line).not.toContain('\n');
  });

  it('says after Ctrl-C what goes on and how to get back to it', () => {
    const { exitCode, line } = failureOf(new InterruptedError('SIGINT'), 'Task 1a2b3c4d goes on.');
    expect([exitCode, line]).toEqual([130, 'mesh: Task 1a2b3c4d goes on.']);
  });
});

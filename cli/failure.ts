import { CommanderError } from 'commander';
import { MeshError, reasonOf } from '../fabric/domain/errors.ts';
import { exitCodeOf, exitCodes } from './exit-codes.ts';
import { InterruptedError } from './interruption.ts';
import { inOptionWords } from './text/option-words.ts';
import { oneLine, printable } from './text/printable.ts';

/** How a command failed: what is printed, as a line and as JSON, and its exit code. */
export interface Failure {
  readonly exitCode: number;
  /** Undefined where all has been said already. */
  readonly line?: string;
  readonly data: { readonly error: { readonly code: string; readonly message: string } };
}

const mostChars = 600;
/** A message with several lines lists problems of a file, one a line. */
const mostListChars = 8_000;

/** Any error as one line that says what failed and what to do; never a stack. */
export function failureOf(error: unknown, hint?: string): Failure {
  if (error instanceof CommanderError) return usageFailure(error);
  if (error instanceof InterruptedError) return interruptedFailure(hint);
  if (error instanceof MeshError) {
    const message = inOptionWords(printable(error.message)).slice(0, mostListChars);
    return {
      exitCode: exitCodeOf[error.code],
      line: `mesh: ${shortened(message)} (${error.code})`,
      data: { error: { ...error.facts, code: error.code, message } },
    };
  }
  const message = `This is a fault of the mesh: ${oneLine(reasonOf(error), mostChars)}. Run \`mesh doctor\`, and report it if nothing is found.`;
  return {
    exitCode: exitCodes.fault,
    line: `mesh: ${message}`,
    data: { error: { code: 'FAULT', message } },
  };
}

/** A task's whole id is for programs; people name it by its first digits. */
const shortened = (message: string): string =>
  message.replace(/\b([0-9a-f]{8})[0-9a-f]{24}\b/gu, '$1');

/** Commander prints its own words; asking for help or the version is no failure. */
function usageFailure(error: CommanderError): Failure {
  const asked = error.exitCode === 0;
  return {
    exitCode: asked ? exitCodes.ok : exitCodes.usage,
    data: {
      error: { code: 'USAGE', message: oneLine(error.message.replace(/^error: /u, ''), mostChars) },
    },
  };
}

function interruptedFailure(hint = 'Stopped; nothing was left half done.'): Failure {
  return {
    exitCode: exitCodes.interrupted,
    line: `mesh: ${hint}`,
    data: { error: { code: 'INTERRUPTED', message: hint } },
  };
}

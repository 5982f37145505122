import type { Clock } from '../fabric/ports/clock.ts';
import type { Random } from '../fabric/ports/random.ts';
import type { MeshConnection, MeshOptions, OpenMesh } from './mesh-connection.ts';
import type { Terminal } from './terminal.ts';

/** The options that every verb takes. */
export interface GlobalOptions extends MeshOptions {
  readonly json?: boolean;
  readonly quiet?: boolean;
  readonly progress?: boolean;
  readonly color: boolean;
}

/** What a verb made: the one JSON document, and the same for people. */
export interface Result {
  readonly data: unknown;
  readonly text: string;
  readonly exitCode?: number;
  /** It wrote its own lines as they came; nothing is printed at the end. */
  readonly silent?: true;
}

/** One run of one verb. */
export interface Session {
  readonly globals: GlobalOptions;
  /** Takes the progress line away before it writes anything. */
  readonly terminal: Terminal;
  readonly clock: Clock;
  readonly random: Random;
  /** Aborts at Ctrl-C. */
  readonly signal: AbortSignal;
  /** Opened once, closed when the verb ends. */
  readonly connect: () => Promise<MeshConnection>;
  /** What it is doing, on stderr; only on a terminal or with --progress. */
  readonly progress: (text: string) => void;
  /** A word beside the result, on stderr; not with --quiet. */
  readonly note: (text: string) => void;
  /** What Ctrl-C prints from now on: what goes on without this command, and how to get back to it. */
  readonly onInterrupt: (hint: string) => void;
}

export interface OpenSession extends Session {
  readonly hint: string | undefined;
  close(): Promise<void>;
}

export interface SessionDeps {
  readonly terminal: Terminal;
  readonly clock: Clock;
  readonly random: Random;
  readonly signal: AbortSignal;
  readonly openMesh: OpenMesh;
}

const clearLine = '\r\u001b[K';

export function openSession(globals: GlobalOptions, deps: SessionDeps): OpenSession {
  const { terminal, openMesh, ...rest } = deps;
  let connection: Promise<MeshConnection> | undefined;
  let hint: string | undefined;
  let progressShown = false;
  const clearProgress = () => {
    if (progressShown) terminal.err(clearLine);
    progressShown = false;
  };
  // Result and progress may share one screen, so whatever is written begins on an empty line.
  const afterProgress = (write: (text: string) => void) => (text: string) => {
    clearProgress();
    write(text);
  };
  const shown = { ...terminal, out: afterProgress(terminal.out), err: afterProgress(terminal.err) };
  return {
    ...rest,
    globals,
    terminal: shown,
    get hint() {
      return hint;
    },
    connect: () => (connection ??= openMesh(globals)),
    progress(text) {
      if (globals.quiet) return;
      if (globals.progress) terminal.err(`${text}\n`);
      else if (terminal.errIsTty) {
        terminal.err(clearLine + text.slice(0, terminal.columns - 1));
        progressShown = true;
      }
    },
    note(text) {
      if (!globals.quiet) shown.err(`${text}\n`);
    },
    onInterrupt(text) {
      hint = text;
    },
    async close() {
      clearProgress();
      // One that could not be opened has told so already.
      const open = await connection?.catch(() => undefined);
      await open?.close();
    },
  };
}

/** Runs one verb's work and shows what it made; given to each verb's `define`. */
export type Run = (work: (session: Session) => Promise<Result>) => Promise<void>;

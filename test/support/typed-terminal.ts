import type { Terminal } from '../../cli/terminal.ts';

export interface TypedTerminal extends Terminal {
  written(): { readonly out: string; readonly err: string };
}

/** A terminal that keeps what a command writes and types `input` on standard input. */
export function typedTerminal({ input = '', tty = false } = {}): TypedTerminal {
  let out = '';
  let err = '';
  return {
    out: (text) => {
      out += text;
    },
    err: (text) => {
      err += text;
    },
    outIsTty: tty,
    errIsTty: tty,
    inIsTty: input === '',
    columns: 100,
    paint: (_style, text) => text,
    readAll: () => Promise.resolve(input),
    written: () => ({ out, err }),
  };
}

import { styleText } from 'node:util';
import { utf8Text } from './given-text.ts';

export type Style = 'bold' | 'dim' | 'green' | 'yellow' | 'red';

/** Where a command's words go: results to `out`, everything else to `err`. */
export interface Terminal {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  readonly outIsTty: boolean;
  readonly errIsTty: boolean;
  /** Characters a line; 100 where nobody knows. */
  readonly columns: number;
  /** `text` in `style` where colours are wanted, else as it is. */
  readonly paint: (style: Style, text: string) => string;
  /** All of standard input. @throws InvalidValueError where it is not UTF-8 */
  readonly readAll: () => Promise<string>;
  readonly inIsTty: boolean;
}

const widthWithoutTty = 100;

/** Places a line of the result has; undefined where it goes to a file or pipe and nothing is cut. */
export const widthOf = ({
  outIsTty,
  columns,
}: Pick<Terminal, 'outIsTty' | 'columns'>): number | undefined => (outIsTty ? columns : undefined);

/** This process's own streams. A reader that went away (`| head`) ends the command quietly. */
export function processTerminal(color: boolean): Terminal {
  const { stdin, stdout, stderr } = process;
  for (const stream of [stdout, stderr]) stream.on('error', endQuietlyOnBrokenPipe);
  const outIsTty = stdout.isTTY;
  return {
    out: (text) => void stdout.write(text),
    err: (text) => void stderr.write(text),
    outIsTty,
    errIsTty: stderr.isTTY,
    inIsTty: stdin.isTTY,
    columns: outIsTty ? stdout.columns : widthWithoutTty,
    paint: (style, text) => (color && outIsTty ? styleText(style, text) : text),
    async readAll() {
      const chunks: Buffer[] = [];
      for await (const chunk of stdin) chunks.push(chunk as Buffer);
      return utf8Text(Buffer.concat(chunks), 'Standard input');
    },
  };
}

function endQuietlyOnBrokenPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error;
  process.exit(0);
}

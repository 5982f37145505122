/** What runtimes print after the cause: frames, object fields, marks and words that are the same for every fault. */
const noise = [
  /^\s/,
  /^[{}[\]()^~.\s]*$/,
  /^Node\.js v\d/,
  /^\(Use `node /,
  /^note: run with `RUST_BACKTRACE/,
  /^exit status \d+$/,
  /^npm (error|ERR!)/,
  /^error Command failed with exit code/,
];

/** Where a report of an uncaught fault says what it was; message and detail may go on below it. */
const head =
  /^(Uncaught )?([\w$]+[.:]+)*[A-Z]?[\w$]*(Error|Exception|Exit|Interrupt)\b( \[\w+\])?(:|$)|^Caused by: |^Exception in thread |^thread '.*' panicked at |^(panic|fatal error): /;

const mostLines = 5;

/**
 * Why a program ended, out of what it wrote to stderr: the report of an uncaught fault, in one line and
 * without its stack, else the last line that says something; empty where nothing was written.
 */
export function causeIn(stderr: string): string {
  const lines = beforeGoroutines(stderr.split(/\r?\n/));
  const written = lines.filter((line) => line.trim() !== '');
  const last = lines.findLastIndex((line) => !isNoise(line));
  if (last < 0) return written.at(-1)?.trim() ?? '';
  const telling = lines.slice(0, last + 1).filter((line) => line.trim() === '' || !isNoise(line));
  const paragraph = telling.slice(telling.findLastIndex((line) => line.trim() === '') + 1);
  const from = paragraph.findLastIndex((line) => head.test(line));
  const near = from >= Math.max(0, paragraph.length - mostLines);
  const said = near ? paragraph.slice(from) : paragraph.slice(-1);
  return [...said, ...beneath(lines)].map((line) => line.trim()).join(' ');
}

/** What Node shows as `[cause]` of an error: "fetch failed" alone helps nobody. */
function beneath(lines: readonly string[]): readonly string[] {
  const causes = lines.flatMap((line) => /^\s+\[cause\]: (.*[^\s{])/.exec(line)?.[1] ?? []);
  return causes.map((cause) => `(${cause.trim()})`);
}

const isNoise = (line: string): boolean => noise.some((pattern) => pattern.test(line));

/** Go prints every goroutine's stack after the cause, unindented. */
function beforeGoroutines(lines: readonly string[]): readonly string[] {
  const stacks = lines.findIndex((line) => /^goroutine \d+ \[/.test(line));
  return stacks < 0 ? lines : lines.slice(0, stacks);
}

export type StrictJson =
  | { readonly ok: true; readonly value: unknown }
  /** `at`: offset in UTF-16 units. */
  | { readonly ok: false; readonly reason: string; readonly at: number };

/** Deeper nesting is refused; our records have five levels. */
const mostLevels = 64;

class Malformed extends Error {
  readonly at: number;

  constructor(reason: string, at: number) {
    super(reason);
    this.at = at;
  }
}

/**
 * Exactly one JSON value (RFC 8259) and nothing around it but white space. Other than `JSON.parse` it
 * refuses a key that stands twice in one object (`reference/shapes.md`: strict everywhere).
 */
export function parseStrictJson(text: string): StrictJson {
  try {
    const reader = readerOf(text);
    const value = reader.value(0);
    reader.end();
    return { ok: true, value };
  } catch (error) {
    if (!(error instanceof Malformed)) throw error;
    return { ok: false, reason: error.message, at: error.at };
  }
}

const blank = /[ \t\n\r]*/y;
const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
/** Everything but quote, backslash and control characters, and the escapes there are. */
const quoted = /"(?:[^"\\\p{Cc}]|[\u007f-\u009f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/uy;
const word = /true|false|null/y;

/** A place in the text, moved on by what is taken. */
function scannerOf(text: string) {
  let at = 0;
  const take = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0];
    at += found?.length ?? 0;
    return found;
  };
  const next = (): string | undefined => {
    take(blank);
    return text[at];
  };
  const skip = (mark: string): boolean => {
    if (next() !== mark) return false;
    at += 1;
    return true;
  };
  const refuse = (reason: string): never => {
    throw new Malformed(reason, at);
  };
  const expected = (what: string): never => {
    const found = at >= text.length ? 'the end' : JSON.stringify(text[at]);
    return refuse(`${what} expected, ${found} found`);
  };
  return { take, next, skip, refuse, expected };
}

function readerOf(text: string) {
  const { take, next, skip, refuse, expected } = scannerOf(text);
  const string = (): string => {
    next();
    const token = take(quoted);
    return token === undefined ? expected('a string') : (JSON.parse(token) as string);
  };
  const value = (level: number): unknown => {
    if (level > mostLevels) refuse(`more than ${mostLevels} levels`);
    const mark = next();
    if (mark === '{') return object(level);
    if (mark === '[') return list(level);
    if (mark === '"') return string();
    const token = take(word) ?? take(number);
    return token ? (JSON.parse(token) as unknown) : expected('a value');
  };
  const object = (level: number): object => {
    skip('{');
    const entries = new Map<string, unknown>();
    if (skip('}')) return {};
    do {
      const key = string();
      if (entries.has(key)) refuse(`the key ${JSON.stringify(key)} twice`);
      if (!skip(':')) expected('":"');
      entries.set(key, value(level + 1));
    } while (skip(','));
    if (!skip('}')) expected('"," or "}"');
    return Object.fromEntries(entries);
  };
  const list = (level: number): unknown[] => {
    skip('[');
    const items: unknown[] = [];
    if (skip(']')) return items;
    do items.push(value(level + 1));
    while (skip(','));
    if (!skip(']')) expected('"," or "]"');
    return items;
  };
  const end = (): void => {
    if (next() !== undefined) expected('nothing more');
  };
  return { value, end };
}

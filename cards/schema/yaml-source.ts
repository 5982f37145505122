import {
  type Document,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  visit,
  type YAMLError,
} from 'yaml';
import { reasonOf } from '../../fabric/domain/errors.ts';
import type { CardProblem, Finding, PathStep } from './card-problem.ts';
import { toPathText } from './card-problem.ts';

/** 256 KiB: a Card is a page; more is a mistake or an attack on the parser. */
export const cardFileBytes = 256 * 1024;

/** A YAML file as plain data, and the place of each of its fields. */
export interface YamlSource {
  readonly value: unknown;
  /** A finding with the line and column of its field, or of the nearest field above it. */
  readonly place: (finding: Finding) => CardProblem;
}

export type YamlReading =
  | { readonly ok: true; readonly source: YamlSource }
  | { readonly ok: false; readonly problems: readonly CardProblem[] };

/**
 * Reads one YAML 1.2 document of plain data. Refused, because two readers could see two things or
 * one file could blow up: duplicate keys, anchors and aliases, tags, several documents, tabs, text
 * that is not UTF-8, more than 256 KiB. Never throws.
 */
export function readYaml(file: string, bytes: Uint8Array): YamlReading {
  const text = textOf(bytes);
  if (typeof text !== 'string') return { ok: false, problems: [{ file, ...start, ...text }] };
  try {
    return readDocument(file, text);
  } catch (error) {
    const message = `The file can't be read as YAML: ${reasonOf(error)}.`;
    const problem = { ...start, file, code: 'NOT_YAML', message, fix: 'Write it flatter.' };
    return { ok: false, problems: [problem] };
  }
}

const start = { severity: 'error', line: 1, column: 1, path: '' } as const;

function textOf(bytes: Uint8Array): string | Pick<CardProblem, 'code' | 'message' | 'fix'> {
  if (bytes.byteLength > cardFileBytes) {
    const message = `The file has ${bytes.byteLength} bytes; at most ${cardFileBytes} are read.`;
    return { code: 'TOO_LARGE', message, fix: 'Move long text to the persona file.' };
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return { code: 'NOT_UTF8', message: 'The file is not UTF-8 text.', fix: 'Save it as UTF-8.' };
  }
}

function readDocument(file: string, text: string): YamlReading {
  const lines = new LineCounter();
  const document = parseDocument(text, {
    lineCounter: lines,
    merge: false,
    logLevel: 'error',
    prettyErrors: false,
  });
  const at = (offset: number) => {
    const { line, col } = lines.linePos(offset);
    return { severity: 'error', file, line: Math.max(line, 1), column: Math.max(col, 1) } as const;
  };
  const problems = [
    ...tabs(text).map((offset) => ({ ...at(offset), ...tabRefused })),
    ...document.errors.slice(0, 20).map((error) => ({ ...at(error.pos[0]), ...toRefusal(error) })),
    ...references(document).map(({ offset, what }) => ({
      ...at(offset),
      ...referenceRefused(what),
    })),
  ];
  if (problems.length > 0) return { ok: false, problems };
  const place = (finding: Finding): CardProblem => ({
    ...finding,
    ...at(offsetOf(document.contents, finding.path)),
    severity: finding.severity,
    path: toPathText(finding.path),
  });
  return { ok: true, source: { value: document.toJS({ maxAliasCount: 0 }), place } };
}

const tabRefused = {
  path: '',
  code: 'TAB',
  message: 'A tab character: YAML and people count its width differently.',
  fix: 'Use spaces.',
};

function tabs(text: string): readonly number[] {
  const first = text.indexOf('\t');
  return first < 0 ? [] : [first];
}

function toRefusal(error: YAMLError): Pick<CardProblem, 'path' | 'code' | 'message' | 'fix'> {
  const message = `${error.message.split('\n')[0]?.replace(/:$/, '') ?? error.code}.`;
  if (error.code === 'DUPLICATE_KEY')
    return { path: '', code: 'DUPLICATE_KEY', message, fix: 'Keep one of the two.' };
  if (error.code === 'MULTIPLE_DOCS')
    return {
      path: '',
      code: 'MULTIPLE_DOCUMENTS',
      message: 'The file holds more than one document.',
      fix: 'Write one document a file.',
    };
  return { path: '', code: 'NOT_YAML', message, fix: 'Correct the YAML at this place.' };
}

function references(document: Document.Parsed): { offset: number; what: string }[] {
  const found: { offset: number; what: string }[] = [];
  visit(document, {
    Alias: (_key, node) => void found.push({ offset: node.range?.[0] ?? 0, what: 'An alias' }),
    Pair: (_key, { key }) => {
      if (isScalar(key) && key.value === '__proto__')
        found.push({ offset: key.range?.[0] ?? 0, what: 'The key __proto__' });
    },
    Node: (_key, node) => {
      const { anchor, tag } = node as { anchor?: string; tag?: string };
      const offset = node.range?.[0] ?? 0;
      if (anchor) found.push({ offset, what: 'An anchor' });
      if (tag && !plainTag.test(tag)) found.push({ offset, what: 'A tag' });
    },
  });
  return found;
}

/** The parser fills `tag` in for plain nodes too, with the core schema's own names. */
const plainTag = /^tag:yaml\.org,2002:(map|seq|str|int|float|bool|null)$/;

function referenceRefused(what: string) {
  return {
    path: '',
    code: 'YAML_REFERENCE',
    message: `${what} makes one place of the file mean another.`,
    fix: 'Write the value out.',
  };
}

/** Where the field is; a key's own place for a key, the container's for what is missing. */
function offsetOf(root: Node | null, path: readonly PathStep[]): number {
  let node: unknown = root;
  let offset = root?.range?.[0] ?? 0;
  for (const step of path) {
    if (isMap(node)) {
      const pair = node.items.find((item) => isScalar(item.key) && String(item.key.value) === step);
      if (pair === undefined) return offset;
      offset = isScalar(pair.key) ? (pair.key.range?.[0] ?? offset) : offset;
      node = pair.value;
    } else if (isSeq(node) && typeof step === 'number') {
      const item = node.items[step] as Node | undefined;
      if (item === undefined) return offset;
      offset = item.range?.[0] ?? offset;
      node = item;
    } else return offset;
  }
  return offset;
}

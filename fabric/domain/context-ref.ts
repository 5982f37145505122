import { z } from 'zod';

const patterns = {
  git: /^git:[^\s@#]+@[^\s@#]+(?:#[^\s#]+)?$/,
  task: /^task:(?:[0-9a-f]{32}|\d+\/\d+|#\d+)$/,
  bank: /^bank:[a-z0-9][a-z0-9._-]{0,63}$/,
  file: /^file:\/?[^\s]+$/,
  url: /^url:https:\/\/[^\s]+$/,
  artifact: /^artifact:[0-9a-f]{64}$/,
} as const;

export type ContextRefKind = keyof typeof patterns;

/** How each kind is written; the text of the error that names a bad one. */
export const contextRefForms =
  'git:repo@sha#path, task:<ref>, bank:<id>, file:<path>, url:<https address> or artifact:<sha256>';

/** A typed pointer passed instead of content, resolved with the caller's authority (`DESIGN.md` 2). */
export const ContextRef = z
  .string()
  .max(1_024)
  .refine((text) => kindOf(text) !== undefined, `a context ref is ${contextRefForms}`)
  .brand<'ContextRef'>();
export type ContextRef = z.infer<typeof ContextRef>;

function kindOf(text: string): ContextRefKind | undefined {
  const kind = text.slice(0, Math.max(0, text.indexOf(':')));
  return isKind(kind) && patterns[kind].test(text) ? kind : undefined;
}

function isKind(word: string): word is ContextRefKind {
  return Object.hasOwn(patterns, word);
}

/** The kind of a ref and what follows its first colon. */
export function partsOfContextRef(ref: ContextRef): { kind: ContextRefKind; value: string } {
  const colon = ref.indexOf(':');
  return { kind: ref.slice(0, colon) as ContextRefKind, value: ref.slice(colon + 1) };
}

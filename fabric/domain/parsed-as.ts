import type { z } from 'zod';
import { InvalidValueError } from './errors.ts';

const mostShown = 60;

/**
 * `text` of a person as what `schema` says, an id above all. Text of ours is parsed by the schema itself:
 * there a misfit is a fault.
 * @param name what the person calls it, `--human` or `agent`
 * @throws InvalidValueError that says what the text is and what it should be
 */
export function parsedAs<S extends z.ZodType>(schema: S, text: string, name: string): z.output<S> {
  const parsed = schema.safeParse(text);
  if (parsed.success) return parsed.data;
  const shown = text.length > mostShown ? `${text.slice(0, mostShown)}…` : text;
  const why = parsed.error.issues[0]?.message ?? 'it does not have its shape';
  const near = nearId(text);
  const fix = near !== text && schema.safeParse(near).success ? ` Such as: ${near}` : '';
  throw new InvalidValueError(`${name} can't be "${shown}": ${why}.${fix}`, name);
}

/** What somebody who wrote a name for people may have meant as an id. */
const nearId = (text: string): string =>
  text
    .toLowerCase()
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^[0-9-]+|-+$/g, '');

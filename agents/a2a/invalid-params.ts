import type { z } from 'zod';
import { MeshError } from '../../fabric/domain/errors.ts';

export interface FieldViolation {
  /** `params.message.parts[0].text` */
  readonly field: string;
  /** What it must be and what came: `expected string, received number`. */
  readonly description: string;
}

/** Parameters that do not have their shape; every field that is wrong, at most 16. */
export class InvalidParamsError extends MeshError {
  readonly violations: readonly FieldViolation[];

  constructor(violations: readonly FieldViolation[]) {
    const [first] = violations;
    const more = violations.length > 1 ? ` (and ${violations.length - 1} more)` : '';
    const what = first ? `${first.field}: ${first.description}` : 'the parameters are wrong';
    super('VALIDATION_ERROR', `${what}${more}. Correct the request and send it again.`, {
      path: first?.field ?? 'params',
    });
    this.name = 'InvalidParamsError';
    this.violations = violations;
  }
}

/** One field that is wrong, found by a rule that no schema can say. */
export const invalidField = (field: string, description: string): InvalidParamsError =>
  new InvalidParamsError([{ field, description }]);

/**
 * Checks what came from outside against its schema.
 * @param root how the value is called in messages: `params`
 * @throws InvalidParamsError
 */
export function parsedOrRefused<T>(schema: z.ZodType<T>, value: unknown, root: string): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new InvalidParamsError(
    parsed.error.issues.slice(0, 16).map(({ path, message }) => ({
      field: path.reduce<string>(pathStep, root),
      description: message.slice(0, 300),
    })),
  );
}

function pathStep(path: string, step: PropertyKey): string {
  return typeof step === 'number' ? `${path}[${step}]` : `${path}.${String(step).slice(0, 64)}`;
}

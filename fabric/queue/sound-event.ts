import { InvalidValueError } from '../domain/errors.ts';
import { TaskEvent } from '../domain/events.ts';

/**
 * Lets no event pass that its own reader would refuse: a log with one can't be loaded any more, by nobody,
 * for ever. Costs some microseconds; an append costs a commit.
 * @throws InvalidValueError that names the field and what it must be
 */
export function requireSound(event: TaskEvent): void {
  const parsed = TaskEvent.safeParse(event);
  if (parsed.success) return;
  const [issue] = parsed.error.issues;
  const path = issue?.path.join('.') ?? '';
  throw new InvalidValueError(
    `The change "${event.kind}" was not made: ${path} does not have its shape ` +
      `(${issue?.message ?? 'unknown'}). Correct that field and send it again.`,
    path,
  );
}

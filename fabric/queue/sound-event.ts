import { InvalidValueError } from '../domain/errors.ts';
import { TaskEvent } from '../domain/events.ts';

/** Events whose shape was found good; an event is never changed after it was made. */
const found = new WeakSet<TaskEvent>();

/** What is wrong with the shape of `event`; undefined when every reader takes it. */
export function unsoundness(event: TaskEvent): { path: string; message: string } | undefined {
  if (found.has(event)) return undefined;
  const parsed = TaskEvent.safeParse(event);
  if (parsed.success) {
    found.add(event);
    return undefined;
  }
  const [issue] = parsed.error.issues;
  return { path: issue?.path.join('.') ?? '', message: issue?.message ?? 'unknown' };
}

/**
 * Lets no event pass that its own reader would refuse: a log with one can't be loaded any more, by nobody,
 * for ever. Costs some microseconds; an append costs a commit.
 * @throws InvalidValueError that names the field and what it must be
 */
export function requireSound(event: TaskEvent): void {
  const fault = unsoundness(event);
  if (fault === undefined) return;
  throw new InvalidValueError(
    `The change "${event.kind}" was not made: ${fault.path} does not have its shape ` +
      `(${fault.message}). Correct that field and send it again.`,
    fault.path,
  );
}

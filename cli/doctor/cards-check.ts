import { lintCards, type HomeView } from '../../cards/registry/card-operations.ts';
import { isError } from '../../cards/schema/card-problem.ts';
import { reasonOf } from '../../fabric/domain/errors.ts';
import { fail, ok, warn, type Finding } from './finding.ts';

/** Whether what is committed can be served. */
export async function cardsFinding(view: HomeView): Promise<Finding> {
  const fix = 'See `mesh cards lint`.';
  try {
    const problems = await lintCards({ ...view, ref: 'HEAD' });
    const errors = problems.filter(isError).length;
    if (errors > 0) return fail('cards', `${errors} errors in what is committed`, fix);
    if (problems.length > 0) return warn('cards', `${problems.length} warnings`, fix);
    return ok('cards', 'all sound');
  } catch (error) {
    return fail(
      'cards',
      reasonOf(error),
      'Make the home with `mesh init`, or repair its repository.',
    );
  }
}

import { lintCards, type HomeView } from '../../cards/registry/card-operations.ts';
import { lastGoodFile } from '../../cards/registry/last-good.ts';
import { isError, toProblemLine, type CardProblem } from '../../cards/schema/card-problem.ts';
import { counted } from '../../fabric/domain/counted.ts';
import { reasonOf } from '../../fabric/domain/errors.ts';
import { fail, ok, warn, type Finding } from './finding.ts';

/**
 * Whether what is committed can be served; where it is refused, why, and what a mesh serves in its place:
 * the last good commit, which every start and reload writes to `stateDir`.
 */
export async function cardsFinding(view: HomeView, stateDir: string): Promise<Finding> {
  try {
    const problems = await lintCards({ ...view, ref: 'HEAD' });
    const errors = problems.filter(isError);
    const [first] = errors;
    if (first) return refused(errors.length, first, await lastGoodFile(stateDir).read());
    const fix = 'See `mesh cards lint`.';
    if (problems.length > 0) return warn('cards', counted(problems.length, 'warning'), fix);
    return ok('cards', 'all sound');
  } catch (error) {
    return fail(
      'cards',
      reasonOf(error),
      'Make the home with `mesh init`, or repair its repository.',
    );
  }
}

function refused(errors: number, first: CardProblem, served: string | undefined): Finding {
  if (first.file === 'mesh.yaml')
    return fail('cards', toProblemLine(first), 'Until then no `mesh up` starts with this home.');
  const instead =
    served === undefined ? 'no commit was ever served' : `${served.slice(0, 12)} is served instead`;
  const says = `the newest commit is refused for ${counted(errors, 'error')}, ${instead}; first: ${toProblemLine(first)}`;
  return fail('cards', says, 'See `mesh cards lint --ref HEAD`, correct the Cards and commit.');
}

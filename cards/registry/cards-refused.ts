import { counted } from '../../fabric/domain/counted.ts';
import { MeshError } from '../../fabric/domain/errors.ts';
import { type CardProblem, isError, toProblemLine } from '../schema/card-problem.ts';
import type { Refusal } from './registry-events.ts';

/** No commit of the home can be served. */
export class CardsRefusedError extends MeshError {
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    const errors = refusal.problems.filter(isError);
    const lines = errors.slice(0, 20).map(toProblemLine).join('\n');
    super('VALIDATION_ERROR', `${wordsFor(refusal.commit, errors)}\n${lines}`);
    this.name = 'CardsRefusedError';
    this.refusal = refusal;
  }
}

/** A fault of the settings is none of the commit, which may be as sound as it ever was. */
function wordsFor(commit: string, errors: readonly CardProblem[]): string {
  const count = counted(errors.length, 'problem');
  if (errors.length > 0 && errors.every(({ file }) => file === 'mesh.yaml'))
    return `The home's mesh.yaml has ${count}. Correct it:`;
  const what = commit === 'work tree' ? 'The work tree' : `Commit ${commit.slice(0, 12)}`;
  return `${what} has ${count} in its Cards. Correct and commit them:`;
}

import { counted } from '../../fabric/domain/counted.ts';
import { MeshError } from '../../fabric/domain/errors.ts';
import { isError, toProblemLine } from '../schema/card-problem.ts';
import type { Refusal } from './registry-events.ts';

/** No commit of the home can be served. */
export class CardsRefusedError extends MeshError {
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    const errors = refusal.problems.filter(isError);
    const lines = errors.slice(0, 20).map(toProblemLine).join('\n');
    const words = `Commit ${refusal.commit.slice(0, 12)} has ${counted(errors.length, 'problem')} in its Cards`;
    super('VALIDATION_ERROR', `${words}. Correct and commit them:\n${lines}`);
    this.name = 'CardsRefusedError';
    this.refusal = refusal;
  }
}

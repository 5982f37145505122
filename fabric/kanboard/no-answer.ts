import { BoardUnavailableError } from '../domain/errors.ts';

/**
 * Kanboard gave no usable answer. `mayBeDone`: the request may have been executed, or may still be;
 * a refused connection and a refused credential are certain not to have been.
 */
export class NoAnswerError extends BoardUnavailableError {
  readonly mayBeDone: boolean;
  /** The credential was refused: no repeat will be answered otherwise. */
  readonly isRefused: boolean;

  constructor(
    message: string,
    mayBeDone: boolean,
    { isRefused = false, ...options }: { cause?: unknown; isRefused?: boolean } = {},
  ) {
    super(message, options);
    this.mayBeDone = mayBeDone;
    this.isRefused = isRefused;
  }
}

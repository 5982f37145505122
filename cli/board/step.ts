/** One line of `mesh board setup`: what was looked at, and how it is now. */
export interface Step {
  readonly about: string;
  /** `you`: the API of Kanboard can't set it, a person has to. `would`: as `changed`, with --dry-run. */
  readonly verdict: 'ok' | 'changed' | 'would' | 'you' | 'warn' | 'fail';
  readonly says: string;
  readonly fix?: string;
}

export const right = (about: string, says: string): Step => ({ about, verdict: 'ok', says });

export const wrong = (
  verdict: 'you' | 'warn' | 'fail',
  about: string,
  says: string,
  fix: string,
): Step => ({ about, verdict, says, fix });

/** One line of the doctor: what was looked at, how it is, and what to do where it is not well. */
export interface Finding {
  readonly about: string;
  readonly verdict: 'ok' | 'warn' | 'fail';
  readonly says: string;
  readonly fix?: string;
}

export const ok = (about: string, says: string): Finding => ({ about, verdict: 'ok', says });
export const warn = (about: string, says: string, fix: string): Finding => ({
  about,
  verdict: 'warn',
  says,
  fix,
});
export const fail = (about: string, says: string, fix: string): Finding => ({
  about,
  verdict: 'fail',
  says,
  fix,
});

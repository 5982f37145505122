/** What the tests run on. */
export const testedVersion = '1.2.51';

/** `1.2.51`, also with a distribution's word behind it. What has no number (a development build) is not old. */
export function isOldVersion(version: string): boolean {
  const numbersOf = (text: string) => (/\d+(\.\d+)*/.exec(text)?.[0] ?? '').split('.').map(Number);
  const [given, tested] = [numbersOf(version), numbersOf(testedVersion)];
  for (const [at, floor] of tested.entries()) {
    const number = given[at];
    if (number === undefined || Number.isNaN(number)) return at > 0;
    if (number !== floor) return number < floor;
  }
  return false;
}

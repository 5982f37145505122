import { InvalidArgumentError, Option } from 'commander';
import { Priority, Score } from '../fabric/domain/task.ts';

const refusal = (values: readonly (string | number)[]): InvalidArgumentError =>
  new InvalidArgumentError(`Allowed choices are ${values.join(', ')}.`);

/** An option that takes one of some numbers; commander's own choices are words, or are not checked. */
function numberOption(flags: string, description: string, values: readonly number[]): Option {
  return new Option(flags, description).choices(values.map(String)).argParser((text: string) => {
    const value = values.find((one) => String(one) === text);
    if (value === undefined) throw refusal(values);
    return value;
  });
}

/** What `submit` and `edit` say of a task's urgency and size. */
export const priorityOption = (): Option =>
  numberOption('--priority <n>', '1 first, then 2, 0, 3', valuesOf(Priority));
export const scoreOption = (description: string): Option =>
  numberOption('--score <points>', description, valuesOf(Score));

const valuesOf = ({ options }: typeof Priority | typeof Score): readonly number[] =>
  options.map(({ value }) => value);

/** An option that takes several of some words: `--scope a b`, `--scope a,b`, or both. */
export function listOption(
  flags: `${string}...>`,
  description: string,
  values: readonly string[],
): Option {
  const option = new Option(flags, description).choices(values);
  return option.argParser((text: string, before: readonly string[] | undefined) => {
    const given = text.split(',').map((word) => {
      const value = values.find((one) => one === word.trim());
      if (value === undefined) throw refusal(values);
      return value;
    });
    const isFirst = before === undefined || before === option.defaultValue;
    return isFirst ? given : [...before, ...given];
  });
}

import { Argument, InvalidArgumentError, Option, type Command } from 'commander';
import { ContextRef, contextRefForms } from '../fabric/domain/context-ref.ts';
import { InvalidValueError } from '../fabric/domain/errors.ts';
import {
  CostClass,
  Effects,
  Tier,
  TrustClass,
  VerificationPolicy,
} from '../fabric/domain/trust.ts';
import { listOption, priorityOption, scoreOption } from './choice-option.ts';
import { textFile } from './given-text.ts';
import type { Terminal } from './terminal.ts';
import { parseSpan, parseWhen, type When } from './text/points-in-time.ts';

/** What `submit`, `send`, `stream` and `route` take beside target and text. */
export interface SubmissionOptions {
  readonly file?: string;
  readonly key?: string;
  readonly context?: string;
  readonly parent?: string;
  readonly ref?: readonly string[];
  readonly acceptance?: string;
  readonly priority?: number;
  readonly score?: number;
  readonly deadline?: When;
  readonly notBefore?: When;
  readonly verification?: string;
  readonly effects?: string;
  readonly onUnavailable?: string;
  readonly model?: string;
  readonly effort?: string;
  readonly tier?: string;
  readonly skill?: string;
  readonly tools?: true;
  readonly vision?: true;
  readonly minContext?: number;
  readonly trust?: string;
  readonly cost?: readonly string[];
}

/** Target and text, and what only a target that is not pinned needs. */
export function withTarget(command: Command): Command {
  return command
    .addArgument(new Argument('<target>', 'an agent id, `any` (with what it must have), or `auto`'))
    .addArgument(new Argument('[text...]', 'what to do; `-` or nothing reads standard input'))
    .option('--file <path>', 'read the text from a file')
    .addOption(new Option('--tier <tier>', 'any: size of model').choices(Tier.options))
    .option('--skill <id>', 'any: a skill it must have')
    .option('--tools', 'any: a model that can call tools')
    .option('--vision', 'any: a model that can see')
    .option('--min-context <tokens>', 'any: least context of the model', parseWhole)
    .addOption(new Option('--trust <class>', 'any: least trust').choices(TrustClass.options))
    .addOption(listOption('--cost <class...>', 'any: allowed costs', CostClass.options))
    .addOption(scoreOption('size of the task, for the tier'));
}

/** Everything else that a submit may say; who waits for the answer has `verifiedBy` nobody unless they say so. */
export function withSubmission(command: Command, verifiedBy = 'whom its Card names'): Command {
  return withTarget(command)
    .option(
      '--ref <ref...>',
      'context by reference: git:…, task:…, bank:…, file:…, url:…, artifact:…',
      parseRef,
    )
    .option('--acceptance <text>', 'when it counts as done')
    .addOption(priorityOption())
    .option(
      '--deadline <when>',
      'ask a person when it is not done by then: 2h, 2026-12-24',
      parseWhen,
    )
    .option('--not-before <when>', 'nobody takes it before', parseWhen)
    .option('--context <id>', 'go on in this context')
    .option('--parent <task>', 'make it a child of this task')
    .addOption(
      new Option(
        '--verification <who>',
        `who verifies the result (default: ${verifiedBy})`,
      ).choices(VerificationPolicy.options),
    )
    .addOption(
      new Option('--effects <width>', 'widest effect it may have').choices(Effects.options),
    )
    .addOption(
      new Option('--on-unavailable <do>', 'when nobody can do it now').choices(['park', 'reject']),
    )
    .option('--model <id>', 'executors: this model')
    .option('--effort <level>', 'executors: this effort')
    .option('--key <text>', 'idempotency key: the same key again names the same task');
}

/** `--timeout` of the verbs that wait. */
export const withTimeout = (command: Command): Command =>
  command.option('--timeout <span>', 'stop waiting after 30s, 5m, 2h; the task goes on', parseSpan);

function parseRef(text: string, before: readonly string[] = []): readonly string[] {
  const ref = ContextRef.safeParse(text);
  if (ref.success) return [...before, ref.data];
  throw new InvalidArgumentError(`Write a reference as ${contextRefForms}.`);
}

function parseWhole(text: string): number {
  if (!/^\d{1,9}$/u.test(text)) throw new InvalidArgumentError('Give a whole number.');
  return Number(text);
}

/** A whole number from 1 on, for options. @throws InvalidArgumentError */
export function parseCount(text: string): number {
  const count = parseWhole(text);
  if (count === 0) throw new InvalidArgumentError('Give a whole number from 1 on.');
  return count;
}

/**
 * The text of a task: the words given, a file, or standard input.
 * @throws InvalidValueError when there is none, or more than one source
 */
export async function textOfSubmission(
  words: readonly string[],
  file: string | undefined,
  terminal: Terminal,
): Promise<string> {
  if (file !== undefined && words.join(' ') !== '') {
    throw new InvalidValueError('Give the text or --file, not both.', 'text');
  }
  const text = file === undefined ? await givenText(words, terminal) : await textFile(file);
  if (text.trim() !== '') return text;
  throw new InvalidValueError(
    'The task has no text. Write it after the target, pipe it in, or name a --file.',
    'text',
  );
}

/** The words of the command line; standard input for `-`, or where there are none and it is no terminal. */
export async function givenText(words: readonly string[], terminal: Terminal): Promise<string> {
  const given = words.join(' ');
  const fromStdin = given === '-' || (given === '' && !terminal.inIsTty);
  return fromStdin ? terminal.readAll() : given;
}

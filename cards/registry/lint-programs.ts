import { existsSync, statSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import type { CardProblem } from '../schema/card-problem.ts';
import type { CardRunner } from '../schema/card.ts';
import { warning } from '../schema/finding.ts';
import type { CardReading } from '../schema/read-card.ts';

/** What `{catalog}` and `{home}` in a runner's command stand for. */
export interface ProgramFolders {
  readonly catalog: string;
  readonly home: string;
}

/** A runner's command with its folders filled in. */
export const commandIn = (
  { command }: Pick<CardRunner, 'command'>,
  { catalog, home }: ProgramFolders,
): readonly string[] =>
  command.map((word) => word.replaceAll('{catalog}', catalog).replaceAll('{home}', home));

/**
 * A warning for each runner whose program is not on this host's disk, or is named in a way that no run
 * finds it. No error: programs are no part of the commit, another host may have the file, and one that is
 * missing must not keep the set from being used.
 */
export function lintPrograms(
  readings: readonly CardReading[],
  folders: ProgramFolders,
): readonly CardProblem[] {
  return readings.flatMap(({ card, place }) => {
    if (card?.runner === undefined) return [];
    const command = commandIn(card.runner, folders);
    return programWords(command).flatMap((index) => {
      const path = command[index] ?? '';
      const told = isAbsolute(path) ? missing(path) : relative(path, index, folders.home);
      if (told === undefined) return [];
      return [place(warning('NO_PROGRAM', ['runner', 'command', index], ...told))];
    });
  });
}

/** The program itself, and what it is told to run where it is an interpreter: the first word that is no option. */
function programWords(command: readonly string[]): readonly number[] {
  const script = command.findIndex((word, index) => index > 0 && !word.startsWith('-'));
  return script < 0 ? [0] : [0, script];
}

type Told = readonly [message: string, fix: string];

function missing(path: string): Told | undefined {
  if (existsSync(path)) return undefined;
  return [
    `The program ${path} is not there, so no run of this agent can do anything.`,
    'Put it there or correct the command.',
  ];
}

/** A bare word is looked up in PATH or is an argument; a path, or a file of the home, was meant as a file. */
function relative(path: string, index: number, home: string): Told | undefined {
  const isPath = path.includes('/');
  const isOfHome = (index > 0 || isPath) && isFile(join(home, path));
  if (!isOfHome && (index > 0 || !isPath)) return undefined;
  return [
    `Each run starts in a folder of its own, so "${path}" is not found there.`,
    isOfHome
      ? `Write {home}/${path}.`
      : 'Write the whole path; {home} and {catalog} stand for folders.',
  ];
}

/** False too for what is no path at all: program text after `-e` is longer than a name may be. */
function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

import { describe, expect, it } from 'vitest';
import type { Command } from 'commander';
import { failureOf } from '../../cli/failure.ts';
import { buildProgram, withoutHelpVerb } from '../../cli/program.ts';
import type { GlobalOptions } from '../../cli/session.ts';
import { verbs } from '../../cli/verb-list.ts';
import { typedTerminal } from '../support/typed-terminal.ts';

/** Parses a command line; the verb's work is not run, only that it would be. */
async function typed(...args: string[]) {
  const terminal = typedTerminal();
  const ran: GlobalOptions[] = [];
  const program = buildProgram({
    terminal,
    runVerb: async (globals) => {
      ran.push(globals);
    },
  });
  let exitCode = 0;
  try {
    await program.parseAsync(withoutHelpVerb(args), { from: 'user' });
  } catch (error) {
    exitCode = failureOf(error).exitCode;
  }
  return { program, exitCode, ran, ...terminal.written() };
}

/** Every command that does something, with the words that lead to it. */
async function leaves(): Promise<(readonly string[])[]> {
  const found: string[][] = [];
  const collect = (command: Command, path: string[]): void => {
    if (command.commands.length === 0) found.push(path);
    for (const child of command.commands) collect(child, [...path, child.name()]);
  };
  for (const { name } of verbs) {
    const { program } = await typed(name, '--help');
    const command = program.commands.find((one) => one.name() === name);
    if (command) collect(command, [name]);
  }
  return found;
}

describe('the command line', () => {
  it('names every verb of the brief in its help, without loading one', async () => {
    const { out, exitCode } = await typed('--help');
    for (const { name } of verbs) expect(out).toMatch(new RegExp(`^ {2}${name} `, 'm'));
    expect(exitCode).toBe(0);
    expect((await typed()).out).toBe(out);
  });

  it('has at least two examples in the help of every verb', async () => {
    const commands = await leaves();
    expect(commands.length).toBeGreaterThan(40);
    for (const path of commands) {
      const { out, exitCode } = await typed(...path, '--help');
      const name = `mesh ${path.join(' ')}`;
      const examples = out.slice(out.lastIndexOf('Examples:')).split(name).length - 1;
      expect(exitCode, name).toBe(0);
      expect(examples, name).toBeGreaterThanOrEqual(2);
    }
  });

  it('takes the verbs that loops outside the mesh use', async () => {
    const { out } = await typed('help', 'task');
    for (const verb of [
      'next',
      'take',
      'renew',
      'lease',
      'done',
      'park',
      'deadletter',
      'close',
      'escalate',
    ])
      expect(out).toMatch(new RegExp(`^ {2}${verb} `, 'm'));
  });

  it.each([
    [['sumbit'], 'Did you mean submit?'],
    [['sumbit', '--help'], 'Did you mean submit?'],
    [['task', 'netx'], 'Did you mean next?'],
    [['task'], 'Usage: mesh task'],
    [['show'], "missing required argument 'task'"],
    [['send', 'adolf', 'hi', '--tier', 'huge'], 'Allowed choices are small'],
    [['send', 'adolf', 'hi', '--timeout', 'soon'], 'Write a span as 30s'],
    [['submit', 'adolf', 'hi', '--deadline', 'friday'], 'Write a time as 2h'],
    [['up', '--port', '70000'], 'A port is a number'],
    [['up', '--board', 'elsewhere'], 'A board is'],
    [['send', 'adolf', 'hi', '--ref', 'task:1', 'foo'], 'Write a reference as git:'],
    [['tasks', '--limit', '0'], 'whole number from 1'],
    [['tasks', '--wrong'], "unknown option '--wrong'"],
    [['verify', '1a2b3c4d', '--rework'], '--rework needs --refuse'],
    [['verify', '1a2b3c4d', '--rework', '--note', 'No lines.'], '--rework needs --refuse'],
    [['verify', '1a2b3c4d', '--refuse'], '--refuse needs --note'],
    [['verify', '1a2b3c4d', '--refuse', '--rework', '--note', ''], '--refuse needs --note'],
  ])('refuses %j with exit code 2 and a word on how to get out', async (args, words) => {
    const { exitCode, err, out, ran } = await typed(...args);
    expect(exitCode).toBe(2);
    expect(err).toContain(words);
    expect(err).not.toMatch(/\n\s+at /);
    expect(out).toBe('');
    expect(ran).toEqual([]);
  });

  it.each([
    [['send', 'any', 'hi', '--score', '4'], 'Allowed choices are 0, 1, 2, 3, 5, 8, 13, 21.'],
    [['send', 'any', 'hi', '--score', '05'], 'Allowed choices are'],
    [['submit', 'adolf', 'hi', '--priority', '4'], 'Allowed choices are 0, 1, 2, 3.'],
    [['task', 'edit', '1a2b3c4d', '--score', '4'], 'Allowed choices are'],
    [['tasks', '--phase', 'ready,wrking'], 'Allowed choices are'],
    [['token', 'create', '--scope', 'tasks:submit,everything'], 'Allowed choices are'],
  ])('refuses a value of %j that is none of its choices', async (args, words) => {
    const { exitCode, err, ran } = await typed(...args);
    expect([exitCode, ran]).toEqual([2, []]);
    expect(err).toContain(words);
  });

  it.each([
    ['token create', '--scope', ['tasks:submit', 'tasks:read', 'cards:read']],
    ['tasks', '--phase', ['ready', 'working', 'done']],
    ['submit any hi', '--cost', ['free-local', 'metered', 'flat-quota']],
  ])('takes several for %s %s with spaces, commas or both', async (verb, flag, values) => {
    const [one = '', two = '', three = ''] = values;
    const forms = [
      [flag, one, two, three],
      [flag, `${one},${two},${three}`],
      [flag, `${one},${two}`, three],
      [flag, one, flag, `${two}, ${three}`],
    ];
    for (const form of forms) {
      const { program, exitCode } = await typed(...verb.split(' '), ...form);
      expect(exitCode, form.join(' ')).toBe(0);
      const path = verb.split(' ');
      const first = program.commands.find((command) => command.name() === path[0]);
      const leaf = first?.commands.find((command) => command.name() === path[1]) ?? first;
      expect(leaf?.opts()[flag.slice(2)], form.join(' ')).toEqual(values);
    }
  });

  it('takes the global options before and after the verb', async () => {
    const before = await typed('--json', '--home', '/h', 'inbox');
    const after = await typed('inbox', '--home', '/h', '--json');
    expect(before.ran).toEqual(after.ran);
    expect(before.ran[0]).toMatchObject({ json: true, home: '/h', color: true });
  });
});

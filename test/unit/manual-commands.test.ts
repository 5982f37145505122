import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { packageRoot } from '../../cards/registry/package-root.ts';
import { failureOf } from '../../cli/failure.ts';
import { buildProgram, withoutHelpVerb } from '../../cli/program.ts';
import { typedTerminal } from '../support/typed-terminal.ts';

const root = packageRoot();
const manual = readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md'));
const pages = ['README.md', 'CONTRIBUTING.md', ...manual.map((name) => `docs/${name}`)];
const textOf = (page: string) => readFileSync(join(root, page), 'utf8');

interface Named {
  readonly command: string;
  /** In running text a verb may be named without all that it takes. */
  readonly isWhole: boolean;
}

/** Every `mesh …` of a page: on the lines of its shell blocks, within `$( )`, and in running text. */
function commandsIn(page: string): readonly Named[] {
  const text = textOf(page);
  const blocks = [...text.matchAll(/^```(?:sh|bash)\n([^]*?)^```$/gm)];
  const lines = blocks.flatMap(([, block = '']) => block.split('\n'));
  const inline = [...text.matchAll(/`((?:npm run mesh --|mesh) [^`\n]+)`/g)];
  return [
    ...lines.flatMap(commandsOf).map((command) => ({ command, isWhole: true })),
    ...inline
      .flatMap(([, words = '']) => commandsOf(words))
      .map((command) => ({ command, isWhole: false })),
  ].filter(({ command }) => !/^(<|…|--help)/.test(command));
}

const commandsOf = (line: string): readonly string[] =>
  [...line.matchAll(/(?:^\s*|\$\(|&& )(?:npm run mesh --|mesh) ([^|)#;]*)/g)].map(([, rest = '']) =>
    rest.trim(),
  );

/** As a shell would split them; `…` stands for more, and a redirection is not the command's. */
const wordsOf = (command: string): readonly string[] => {
  const line = command
    .replaceAll('"$id"', 'a56f9a14')
    .replaceAll('"$fence"', '2')
    .replaceAll('<front url>', 'http://127.0.0.1:4700')
    .replace(/\s(>|…).*$/, '');
  const words = line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g);
  return [...words].map(([, one, other, plain]) => one ?? other ?? plain ?? '');
};

async function refusalOf({ command, isWhole }: Named): Promise<string | undefined> {
  const terminal = typedTerminal();
  const program = buildProgram({ terminal, runVerb: () => Promise.resolve() });
  try {
    await program.parseAsync(withoutHelpVerb([...wordsOf(command)]), { from: 'user' });
    return undefined;
  } catch (error) {
    const { err } = terminal.written();
    const isNamed = !isWhole && /missing required argument|^Usage:/.test(err);
    return failureOf(error).exitCode === 0 || isNamed ? undefined : err;
  }
}

describe('the manual', () => {
  it.each(pages)('gives only commands that the program takes: %s', async (page) => {
    for (const named of commandsIn(page))
      expect(await refusalOf(named), `${page}: mesh ${named.command}`).toBeUndefined();
  });

  it('has commands to try, many of them', () => {
    const whole = pages.flatMap(commandsIn).filter(({ isWhole }) => isWhole);
    expect(whole.length).toBeGreaterThan(15);
  });

  it.each(pages)('names only files that are there: %s', (page) => {
    const text = textOf(page).replaceAll(/^```[^]*?^```$/gm, '');
    const links = [...text.matchAll(/\]\((?!https?:)([^)#\s]+)[^)]*\)/g)];
    const folders = 'fabric|agents|router|keeper|cli|test|docs|scripts';
    const named = [
      ...text.matchAll(new RegExp(`(?<![\\w./>-])((?:${folders})/[\\w./-]*\\w)`, 'g')),
    ];
    const paths = [
      ...links.map(([, path = '']) => join(dirname(page), path)),
      ...named.map(([, path = '']) => path),
    ];
    expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });
});

import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { shellWord } from '../../cli/text/shell-word.ts';

describe('a word of a command that is printed to be pasted', () => {
  it.each([
    '/home/ada/.mesh',
    'a b',
    "Ada's mesh",
    '$HOME',
    'a;b',
    '`id`',
    '*',
    '',
    '~',
    'a"b',
    'a\nb',
  ])('is for a shell what it was: %j', (text) => {
    const said = execFileSync('sh', ['-c', `printf %s ${shellWord(text)}`], { encoding: 'utf8' });
    expect(said).toBe(text);
  });

  it('stays plain where it may', () => {
    expect(shellWord('/home/ada/my-mesh_2')).toBe('/home/ada/my-mesh_2');
  });
});

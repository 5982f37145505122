import { InvalidArgumentError, type Command } from 'commander';
import { isBoardName } from '../board-choice.ts';

/** Which Kanboard a verb looks after. */
export const withBoard = (command: Command): Command =>
  command.option(
    '--board <where>',
    '`kanboard:<url>` or `kanboard` (default: mesh.yaml)',
    (text) => {
      if (isBoardName(text)) return text;
      throw new InvalidArgumentError('Write `kanboard:` and an http(s) address, or `kanboard`.');
    },
  );

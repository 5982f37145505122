import { BoardUnavailableError } from '../fabric/domain/errors.ts';
import type { HomeHolder } from '../fabric/embedded/home-lock.ts';

/** As the holder of a home's lock: the one command that soon answers for the home it holds. */
export const servingCommand = 'mesh up';

/**
 * The home is held by a command that gives no address: one that starts, which passes, or one that works on
 * it alone, which goes on until it ends.
 */
export function homeInUse(home: string, holder: HomeHolder | undefined): BoardUnavailableError {
  if (holder?.command === servingCommand) {
    return new BoardUnavailableError(
      `${home} is in use by \`${servingCommand}\` (process ${holder.pid}), which has no address yet. Try again in a moment.`,
    );
  }
  const who = holder ? `\`${holder.command}\` (process ${holder.pid})` : 'another command';
  return new BoardUnavailableError(
    `${home} is in use by ${who}, which lets no other command in. Wait until it ends or stop it; ` +
      'beside a running `mesh up` all of them work at once.',
  );
}

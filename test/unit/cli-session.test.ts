import { describe, expect, it } from 'vitest';
import { openSession, type GlobalOptions, type Session } from '../../cli/session.ts';
import { manualClock } from '../support/manual-clock.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { typedTerminal } from '../support/typed-terminal.ts';

const clearLine = '\r\u001b[K';

/** What a person sees once `work` is over: both streams on one screen, cleared lines gone. */
async function seenAfter(
  globals: Partial<GlobalOptions>,
  work: (session: Session) => void,
): Promise<string> {
  let written = '';
  const write = (text: string): void => {
    written += text;
  };
  const session = openSession(
    { color: false, ...globals },
    {
      terminal: { ...typedTerminal({ tty: true }), out: write, err: write },
      clock: manualClock(),
      random: seededRandom(1),
      signal: new AbortController().signal,
      openMesh: () => Promise.reject(new Error('no mesh is needed')),
    },
  );
  work(session);
  await session.close();
  return written
    .split('\n')
    .map((line) => line.split(clearLine).at(-1) ?? '')
    .join('\n');
}

describe('the progress line on a terminal', () => {
  it.each<[string, (session: Session) => void]>([
    ['a result', ({ terminal }) => terminal.out('the words\n')],
    ['an error', ({ terminal }) => terminal.err('the words\n')],
    ['a word beside the result', ({ note }) => note('the words')],
  ])('is gone before %s', async (_what, say) => {
    const seen = await seenAfter({}, (session) => {
      session.progress('looking at the network');
      say(session);
      session.progress('looking on');
    });
    expect(seen).toBe('the words\n');
  });

  it('does not cut what was written without one', async () => {
    const seen = await seenAfter({}, ({ terminal }) => {
      terminal.out('first, ');
      terminal.out('second\n');
    });
    expect(seen).toBe('first, second\n');
  });

  it('stays as a line of its own with --progress', async () => {
    const seen = await seenAfter({ progress: true }, (session) => {
      session.progress('asking');
      session.terminal.out('the words\n');
    });
    expect(seen).toBe('asking\nthe words\n');
  });
});

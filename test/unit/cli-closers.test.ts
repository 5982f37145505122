import { describe, expect, it } from 'vitest';
import { closingAfter, closingOnFailure, createClosers, type Closers } from '../../cli/closers.ts';

/** Adds closers that note their name; those named in `failing` reject. */
function opened(closers: Closers, names: readonly string[], failing: readonly string[] = []) {
  const closed: string[] = [];
  for (const name of names) {
    closers.add(async () => {
      await Promise.resolve();
      closed.push(name);
      if (failing.includes(name)) throw new Error(`${name} does not close`);
    });
  }
  return closed;
}

describe('what was opened', () => {
  it('is closed in reverse order, once', async () => {
    const closers = createClosers();
    const closed = opened(closers, ['lock', 'database', 'board']);
    await closers.closeAll();
    await closers.closeAll();
    expect(closed).toEqual(['board', 'database', 'lock']);
  });

  it('is closed whatever others do, and the first failure is told', async () => {
    const closers = createClosers();
    const closed = opened(closers, ['lock', 'database', 'board'], ['board', 'lock']);
    await expect(closers.closeAll()).rejects.toThrow('board does not close');
    expect(closed).toEqual(['board', 'database', 'lock']);
  });

  it.each([0, 1, 2, 3])('is closed again when step %d fails', async (steps) => {
    const names = ['lock', 'database', 'board'].slice(0, steps);
    let closed: string[] = [];
    const open = closingOnFailure((closers) => {
      closed = opened(closers, names, ['database']);
      return Promise.reject(new Error('no more'));
    });
    await expect(open).rejects.toThrow('no more');
    expect(closed).toEqual(names.toReversed());
  });

  it('stays open where nothing fails', async () => {
    let closed: string[] = [];
    const board = await closingOnFailure((closers) => {
      closed = opened(closers, ['board']);
      return Promise.resolve('board');
    });
    expect([board, closed]).toEqual(['board', []]);
  });

  it('is closed after its work, done or failed', async () => {
    for (const end of [Promise.resolve('done'), Promise.reject(new Error('failed'))]) {
      let closed: string[] = [];
      const work = closingAfter((closers) => {
        closed = opened(closers, ['lock', 'board']);
        return end;
      });
      await expect(work.catch(String)).resolves.toMatch(/^(done|Error: failed)$/);
      expect(closed).toEqual(['board', 'lock']);
    }
  });
});

import { describe, expect, it } from 'vitest';
import {
  parseManifest,
  requireSameBoard,
  type BackupManifest,
} from '../../cli/board/backup/manifest.ts';

const manifest: BackupManifest = {
  version: 1,
  createdAt: '2026-11-30T09:00:00.000Z',
  board: { kind: 'own', url: 'http://127.0.0.1:8085', boardId: 'mesh' },
  stamp: { home: '0123456789abcdef', stamp: 3 },
  hasKeys: false,
  parts: ['state/kanboard/data/db.sqlite'],
};
const parse = (change: object) => () =>
  parseManifest(JSON.stringify({ ...manifest, ...change }), 'b');

describe('the manifest of a backup', () => {
  it('is read as it was written', () => {
    expect(parse({})()).toEqual(manifest);
  });

  it.each([
    [
      'of a newer layout',
      { version: 2, more: true },
      /b has layout 2; this release reads layout 1/,
    ],
    ['without a time', { createdAt: 'yesterday' }, /not one of a mesh backup \(createdAt: /],
    ['with a field nobody knows', { more: 1 }, /Unrecognized key/],
    ['with a board of no kind', { board: { kind: 'x' } }, /board\.kind: /],
  ])('is refused %s', (_name, change, words) => {
    expect(parse(change)).toThrow(words);
  });

  it('is refused where it is no JSON', () => {
    expect(() => parseManifest('PK', 'b')).toThrow('The manifest of b is not one of a mesh backup');
  });

  it.each([
    ['another board', { kind: 'own', boardId: 'other' } as const, /board "mesh".*works on "other"/],
    ['a Kanboard elsewhere', { kind: 'foreign', boardId: 'mesh' } as const, /--board kanboard\./],
  ])('does not fit %s', (_name, wanted, words) => {
    expect(() => {
      requireSameBoard(manifest, wanted, 'b');
    }).toThrow(words);
  });

  it('fits the board it is of', () => {
    requireSameBoard(manifest, { kind: 'own', boardId: 'mesh' }, 'b');
  });
});

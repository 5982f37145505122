import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { boardChoiceOf } from '../../cli/board-choice.ts';
import { KanboardSettings } from '../../cli/board-settings.ts';
import { loadConfig, type Environment } from '../../cli/config.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const shipped = join(import.meta.dirname, '../../cards/catalog/mesh.yaml');
const empty: Environment = {
  ...{ home: undefined, url: undefined, token: undefined, meshSecret: undefined },
  ...{
    gatewayUrl: undefined,
    gatewayKey: undefined,
    kanboard: {},
    logLevel: undefined,
    noColor: true,
    all: {},
  },
};

describe('--board', () => {
  const url = 'https://board.example.org';
  const settings = KanboardSettings.parse({
    url,
    webUrl: 'https://b.example.org',
    boardId: 'ours',
  });
  const configured = { board: { kanboard: settings } };

  it('names a board; without it mesh.yaml does, else it is the home’s own', () => {
    expect(boardChoiceOf(undefined, { board: undefined })).toEqual({ kind: 'embedded' });
    expect(boardChoiceOf(undefined, configured)).toEqual({ kind: 'kanboard', settings });
    expect(boardChoiceOf('embedded', configured)).toEqual({ kind: 'embedded' });
    expect(boardChoiceOf('kanboard', configured)).toEqual({ kind: 'kanboard', settings });
    const own = boardChoiceOf('kanboard', { board: undefined });
    expect(own).toEqual({ kind: 'kanboard', settings: KanboardSettings.parse({}) });
    expect(boardChoiceOf('mesh:http://127.0.0.1:4700/', configured)).toEqual({
      kind: 'mesh',
      url: 'http://127.0.0.1:4700',
    });
  });

  it('keeps the settings of mesh.yaml for a Kanboard that is named by its address', () => {
    expect(boardChoiceOf(`kanboard:${url}/jsonrpc.php`, configured)).toMatchObject({
      settings: { boardId: 'ours', webUrl: 'https://b.example.org' },
    });
    const other = boardChoiceOf('kanboard:http://127.0.0.1:8085', configured);
    expect(other).toMatchObject({ settings: { url: 'http://127.0.0.1:8085', boardId: 'ours' } });
    expect(other.kind === 'kanboard' && other.settings.webUrl).toBeUndefined();
  });

  it('takes no credential in an address', () => {
    expect(() => boardChoiceOf('kanboard:http://jsonrpc:x@board', configured)).toThrow(
      /MESH_KANBOARD_TOKEN/,
    );
  });
});

describe('mesh.yaml', () => {
  const written = async (more: string) => {
    const home = await temporaryFolder();
    writeFileSync(join(home, 'mesh.yaml'), readFileSync(shipped, 'utf8') + more);
    return loadConfig(home, empty);
  };

  it('is read as shipped, and with a gateway', async () => {
    expect(await written('')).toMatchObject({ defaultHuman: 'operator', gatewayUrl: undefined });
    const url = 'http://127.0.0.1:4000';
    expect((await written(`gateway:\n  url: ${url}\n`)).gatewayUrl).toBe(url);
  });

  it.each([
    ['labHosts', 'labHosts: []\n', /labHosts/],
    [
      'gateway.timeout',
      'gateway:\n  url: http://127.0.0.1:4000\n  timeout: 5s\n',
      /gateway.*timeout/,
    ],
    ['a word of nobody', 'frontt: {}\n', /frontt/],
  ])('takes no setting that does nothing: %s', async (_key, more, words) => {
    await expect(written(more)).rejects.toThrow(words);
  });

  it('takes a Kanboard as the board, and says what is wrong with one', async () => {
    const url = 'https://board.example.org/kanboard';
    const { board } = await written(`board:\n  kanboard:\n    url: ${url}\n    poll: 2s\n`);
    expect(board?.kanboard).toEqual({ url, poll: 2_000, boardId: 'mesh', webhook: {} });
    expect((await written('board:\n  kanboard: {}\n')).board?.kanboard.url).toBeUndefined();
    const wrong = [
      'url: https://jsonrpc:secret@board.example.org',
      'url: board.example.org',
      'token: secret',
      'boardId: My Mesh',
      'poll: 5',
    ];
    for (const line of wrong) {
      const field = `board.kanboard${line.startsWith('token') ? '' : `.${line.split(':')[0] ?? ''}`}`;
      const said = await written(`board:\n  kanboard:\n    ${line}\n`).catch(String);
      expect(said, line).toContain(`${field}: `);
      expect(said).not.toContain('secret@');
    }
  });

  it.each([
    ['a tab', '\tfront: 1\n'],
    ['two colons', 'front: a: b\n'],
    ['an open list', 'front: [1,\n'],
    ['an open quote', 'front: "x\n'],
    ['a key twice', 'defaultHuman: twice\n'],
    ['bad indentation', 'front:\n  host: a\n port: 1\n'],
    ['an unknown alias', 'front: *nowhere\n'],
    ['two documents', '---\nfront: {}\n'],
  ])('says in one line what is no YAML, and where: %s', async (_what, more) => {
    const said = await written(more).catch((error: unknown) => (error as Error).message);
    expect(said).toMatch(/mesh\.yaml:\d+: .*[^.:]\. Correct the YAML at this place\.$/);
    expect(said).not.toMatch(/[\n^]/);
  });
});

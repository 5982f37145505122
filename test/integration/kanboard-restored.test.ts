import { copyFileSync, existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { KanboardSettings } from '../../cli/board-settings.ts';
import { homePaths } from '../../cli/home.ts';
import { kanboardAccess } from '../../cli/kanboard-access.ts';
import type { QueueId } from '../../fabric/domain/ids.ts';
import { systemRandom } from '../../fabric/telemetry/system-random.ts';
import { composedMesh, testEnvironment, type ComposedMesh } from '../support/composed-mesh.ts';
import { meshHome, type MeshHome } from '../support/mesh-home.ts';
import { eventually, mesh } from '../support/mesh-process.ts';
import { recordingLog } from '../support/recording-log.ts';
import { startKanboard, type RunningKanboard } from '../support/services/kanboard.ts';
import { describeWith } from '../support/services/service.ts';

describeWith('kanboard', 'a board that was restored from a backup', () => {
  let home: MeshHome;
  let kanboard: RunningKanboard;

  beforeAll(async () => {
    [home, kanboard] = await Promise.all([meshHome(), startKanboard({ database: 'sqlite' })]);
    await home.addCard('player');
    home.commit();
  }, 60_000);
  afterAll(async () => {
    home.remove();
    await kanboard.stop();
  });

  /** A mesh of the home, from here to its stop. */
  async function during<T>(work: (composed: ComposedMesh) => Promise<T>): Promise<T> {
    const environment = { ...testEnvironment, kanboard: { token: kanboard.token } };
    const settings = KanboardSettings.parse({ url: kanboard.baseUrl });
    const deps = { paths: homePaths(home.dir), environment, random: systemRandom };
    const composed = await composedMesh(home.dir, {
      kanboard: () =>
        kanboardAccess(settings, { ...deps, log: recordingLog(), say: () => undefined }),
    });
    try {
      return await work(composed);
    } finally {
      await composed.mesh.stop();
    }
  }

  const queue = 'player' as QueueId;
  const candidates = ({ mesh: { board } }: ComposedMesh) => board.list(queue, Date.now(), 10);

  async function withBoardDown(work: (from: (file: string) => string, to: string) => void) {
    const saved = join(home.dir, 'state/saved');
    mkdirSync(saved, { recursive: true });
    await kanboard.kill();
    work((file) => join(kanboard.dataDir, file), saved);
    await kanboard.restart();
  }
  const files = ['db.sqlite', 'db.sqlite-wal', 'db.sqlite-shm'];

  it('is not worked on until it is accepted, and then not with what may have been done', async () => {
    const [before, untouched] = await during(async (composed) => [
      await composed.submit('player', 'done after the backup'),
      await composed.submit('operator', 'a question that stays'),
    ]);
    // With its projects there a start leaves its stamp.
    expect(await during(candidates)).toEqual([before]);
    await withBoardDown((from, to) => {
      for (const file of files)
        if (existsSync(from(file))) copyFileSync(from(file), join(to, file));
    });
    const after = await during(async (composed) => {
      composed.mesh.start();
      const uid = await composed.submit('player', 'unknown to the backup');
      await eventually(
        async () => [await composed.stateOf(before), await composed.stateOf(uid)],
        (both) => both.every(({ phase }) => phase === 'done'),
        20_000,
      );
      return uid;
    });
    await withBoardDown((from, to) => {
      for (const file of files) {
        rmSync(from(file), { force: true });
        if (existsSync(join(to, file))) copyFileSync(join(to, file), from(file));
      }
    });

    await during(async (composed) => {
      expect(await candidates(composed)).toEqual([]);
      await expect(composed.submit('player', 'more')).rejects.toThrow();
    });
    const env = { MESH_KANBOARD_TOKEN: kanboard.token };
    const board = ['--board', `kanboard:${kanboard.baseUrl}`];
    const said = await mesh(
      { home: home.dir, env },
      ...['board', 'restore', '--accept', '--json', ...board],
    );
    expect([said.code, said.stderr]).toEqual([0, '']);
    const accepted = JSON.parse(said.stdout) as Record<'held' | 'lost', { taskId: string }[]>;
    expect(accepted.held.map(({ taskId }) => taskId)).toEqual([before]);
    expect(accepted.lost.map(({ taskId }) => taskId)).toEqual([after]);

    await during(async (composed) => {
      expect((await composed.stateOf(before)).phase).toBe('paused');
      expect((await composed.stateOf(untouched)).phase).not.toBe('paused');
      const next = await composed.submit('player', 'and on it goes');
      expect(await candidates(composed)).toEqual([next]);
    });
    const again = await mesh({ home: home.dir, env }, 'board', 'restore', '--accept', ...board);
    expect(again.code).toBe(7);
  }, 120_000);
});

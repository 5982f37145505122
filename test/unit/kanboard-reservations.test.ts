import { expect, it } from 'vitest';
import type { Call, KanboardRpc, Reply } from '../../fabric/kanboard/kanboard-rpc.ts';
import { Reservations } from '../../fabric/kanboard/reservations.ts';
import { newTaskId } from '../support/board-builders.ts';
import { manualClock } from '../support/manual-clock.ts';
import { seededRandom } from '../support/seeded-random.ts';

/** Tags with Kanboard's one promise: a name is taken once. */
function tagsOnly(): Pick<KanboardRpc, 'batch'> {
  const tags = new Map<string, { name: string; color_id: string }>();
  const answerTo = ({ method, params }: Call): Reply => {
    if (method === 'getTagsByProject') return { ok: true, result: [...tags.values()] };
    if (method !== 'createTag') return { ok: true, result: method };
    const [name, color_id] = [String(params['tag']), String(params['color_id'])];
    if (tags.has(name)) return { ok: true, result: false };
    tags.set(name, { name, color_id });
    return { ok: true, result: tags.size };
  };
  return { batch: (calls) => Promise.resolve(calls.map(answerTo)) };
}

const uid = newTaskId();

function processes() {
  const rpc = { ...tagsOnly(), close: () => {} } as KanboardRpc;
  const clock = manualClock();
  const open = (seed: number) => new Reservations({ rpc, clock, random: seededRandom(seed) });
  return { one: open(1), other: open(2), clock };
}

it('lets one process be the one, however often each asks', async () => {
  const { one, other } = processes();
  const first = [await one.take(uid, 'it'), await other.take(uid, 'it')];
  const again = [await one.take(uid, 'it'), await other.take(uid, 'it')];
  expect([...first, ...again].map(({ isOurs }) => isOurs)).toEqual([true, false, true, false]);
});

it('keeps two things, and two tasks, apart', async () => {
  const { one, other } = processes();
  await one.take(uid, 'it');
  expect((await other.take(uid, 'it-too')).isOurs).toBe(true);
  expect((await other.take(newTaskId(), 'it')).isOurs).toBe(true);
});

it('steps over who did not finish, who then is the one no more', async () => {
  const { one, other, clock } = processes();
  await one.take(uid, 'it');
  expect((await other.take(uid, 'it')).isOurs).toBe(false);
  await clock.advance(10_000);
  expect((await other.take(uid, 'it')).isOurs).toBe(false);
  await clock.advance(1);
  expect((await other.take(uid, 'it')).isOurs).toBe(true);
  expect((await one.take(uid, 'it')).isOurs).toBe(false);
  await clock.advance(10_001);
  expect((await one.take(uid, 'it')).isOurs).toBe(true);
});

it('asks what else is asked after the reservation', async () => {
  const { one } = processes();
  const { also } = await one.take(uid, 'it', [{ method: 'getTask', params: {} }]);
  expect(also).toEqual([{ ok: true, result: 'getTask' }]);
});

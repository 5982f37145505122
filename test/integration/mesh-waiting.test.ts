import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { weekdays } from '../../cards/schema/weekly-hours.ts';
import { composedMesh, type ComposedMesh } from '../support/composed-mesh.ts';
import { errorOf, message, taskOf, type RpcReply } from '../support/edge-calls.ts';
import { meshHome, type MeshHome } from '../support/mesh-home.ts';

/** Two agents with one skill: the one is closed for days, the other may not be called by the seller. */
const stocktaking = [
  { id: 'stocktake', name: 'Stocktake', description: 'Counts.', tags: ['test'] },
];
/** Its only minute of the week is some days ahead. */
const dayAhead = weekdays[(new Date().getUTCDay() + 2) % 7];
const closed = { days: [dayAhead], from: '03:00', to: '03:01', zone: 'UTC' };

let home: MeshHome;
let composed: ComposedMesh;
let seller: string;
beforeAll(async () => {
  home = await meshHome();
  await home.addCard('nightly', {
    skills: stocktaking,
    availability: { windows: [closed] },
  });
  await home.addCard('dayshift', { skills: stocktaking });
  await home.addCard('seller', { mayCall: ['router', 'nightly'] });
  home.commit();
  composed = await composedMesh(home.dir);
  const scopes = ['tasks:submit', 'tasks:read', 'cards:read'] as const;
  const wish = { principalId: 'seller', role: 'agent' as const, scopes: [...scopes] };
  seller = (await composed.tokenFor(wish)).token;
});
afterAll(async () => {
  await composed.mesh.stop();
  home.remove();
});

async function asSeller(method: string, params: unknown): Promise<RpcReply> {
  const init = {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  };
  return (await (await composed.ask('/', init, seller)).json()) as RpcReply;
}

const Why = z.object({
  sentence: z.string(),
  candidates: z.array(
    z.looseObject({ agentId: z.string(), verdict: z.string(), reasons: z.array(z.string()) }),
  ),
});
const need = { skill: 'stocktake' };
const wanted = { target: 'auto', constraints: need, score: 2 };

describe('a task that no agent is chosen for', () => {
  it('says what the router’s dry run says: who is barred or away, and why', async () => {
    const text = 'Count the shelves.';
    const sent = { message: message(text, {}, wanted) };
    const task = taskOf(await asSeller('SendMessage', sent));
    expect(task.status.state).toBe('TASK_STATE_SUBMITTED');
    const target = { kind: 'constraints', need };
    const dryRun = Why.parse((await asSeller('cardmesh/route', { target, text, score: 2 })).result);
    const why = Why.parse((await asSeller('cardmesh/why', { taskId: task.id })).result);
    expect(why.sentence).toBe(`No agent has it yet. ${dryRun.sentence}`);
    expect(why.sentence).toMatch(/waits until 20\d\d-.*T03:00:00Z, because .*working hours/);
    expect(why.candidates).toEqual(dryRun.candidates);
    const byId = Object.fromEntries(why.candidates.map((one) => [one.agentId, one]));
    expect(byId['nightly']).toMatchObject({ verdict: 'unavailable' });
    expect(byId['dayshift']).toMatchObject({ verdict: 'filtered' });
    expect(byId['dayshift']?.reasons.join()).toContain('seller may not call dayshift');
    expect(task.metadata?.['waits']).toBe(why.sentence);
    expect(task.metadata?.['reason']).toMatch(/outside its working hours/);
    expect(task.metadata?.['until']).toMatch(/T03:00:00.000Z$/);
  });
});

describe('a task for nobody in particular that would rather be refused than wait', () => {
  const reject = { ...wanted, onUnavailable: 'reject' };
  const taskCount = async () => (await composed.mesh.board.find({ limit: 1 })).total;

  it('is refused where nobody who could do it is there, until somebody is, and leaves nothing', async () => {
    const before = await taskCount();
    for (const returnImmediately of [true, false]) {
      const sent = { message: message('Count.', {}, reject), configuration: { returnImmediately } };
      const reply = await asSeller('SendMessage', sent);
      expect(errorOf(reply)).toMatchObject({ code: 50301, reason: 'NO_TARGET' });
      expect(reply.error?.message).toMatch(/working hours.*Nothing was written/);
      expect(JSON.stringify(reply.error?.data)).toMatch(/"retryAt":"20\d\d-[^"]*T03:00:00/);
    }
    expect(await taskCount()).toBe(before);
  });

  it('is refused where nobody can ever do it, and whatever is asked for', async () => {
    const before = await taskCount();
    const wishes = [
      { constraints: { skill: 'no-such-skill' } },
      { constraints: { skill: 'no-such-skill' }, score: undefined },
      { constraints: { tier: 'large' } },
      {},
    ];
    for (const wish of wishes) {
      const extension = { target: 'auto', score: 2, onUnavailable: 'reject', ...wish };
      const reply = await asSeller('SendMessage', { message: message('Count.', {}, extension) });
      expect(errorOf(reply).reason).toBe('NO_TARGET');
    }
    expect(await taskCount()).toBe(before);
  });

  it('is taken where somebody is there, for whom the seller may call', async () => {
    const sent = { message: message('Count.', {}, reject) };
    const params = { ...sent, configuration: { returnImmediately: true } };
    const task = taskOf(await composed.rpc('router', 'SendMessage', params));
    expect(task.metadata).toMatchObject({ agentId: 'dayshift' });
  });

  it('is the same task when it is sent again after everybody has left', async () => {
    const parked = message('Count once.', {}, wanted);
    const { id } = taskOf(await asSeller('SendMessage', { message: parked }));
    const again = message('Count once.', { messageId: parked.messageId }, reject);
    expect(taskOf(await asSeller('SendMessage', { message: again })).id).toBe(id);
  });

  it('is put to a person first where it has no score', async () => {
    const unrated = message('Count.', {}, { ...reject, score: undefined });
    const task = taskOf(await asSeller('SendMessage', { message: unrated }));
    expect(task.metadata).toMatchObject({ ask: 'rating' });
  });
});

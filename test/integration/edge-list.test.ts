import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { phasesShownAs } from '../../agents/a2a/list-tasks.ts';
import { a2aStates } from '../../fabric/domain/a2a-state.ts';
import { scopes } from '../../fabric/domain/principal.ts';
import type { RunTask } from '../../fabric/ports/run-task.ts';
import { edgeMesh, type EdgeMesh } from '../support/edge-mesh.ts';
import { errorOf, message, rpc, taskOf, type WireTask } from '../support/edge-calls.ts';
import { shout } from '../support/edge-runs.ts';

let mesh: EdgeMesh;
let token: string;
let url: string;
const made: string[] = [];
beforeAll(async () => {
  mesh = await edgeMesh({ waitMs: 500 });
  token = await mesh.tokenOf('alvis');
  url = mesh.urlOf('adolf');
  mesh.runs.set('adolf', shout);
  for (let n = 0; n < 12; n++) {
    const contextId = n % 2 === 0 ? 'even' : 'odd';
    if (n === 11) mesh.away.set('adolf', { a: 0, reasons: ['away'] });
    const text = message(`task ${n}`, { contextId });
    made.push(taskOf(await rpc(url, 'SendMessage', { message: text }, { token })).id);
  }
  mesh.away.delete('adolf');
});
afterAll(() => mesh.close());

interface Page {
  readonly tasks: readonly WireTask[];
  readonly nextPageToken: string;
  readonly pageSize: number;
  readonly totalSize: number;
}
const list = async (params: object = {}, as = token) =>
  (await rpc(url, 'ListTasks', params, { token: as })).result as Page;

describe('ListTasks', () => {
  it('gives the newest status first, without artifacts, and says how many there are', async () => {
    const page = await list();
    expect(page.tasks).toHaveLength(12);
    expect(page).toMatchObject({ nextPageToken: '', pageSize: 50, totalSize: 12 });
    const times = page.tasks.map(({ status }) => status.timestamp ?? '');
    expect(times).toEqual([...times].sort().reverse());
    expect(page.tasks.every((task) => !('artifacts' in task))).toBe(true);
    expect((await list({ includeArtifacts: true })).tasks.at(-1)?.artifacts).toHaveLength(1);
  });

  it('pages through everything exactly once', async () => {
    const seen: string[] = [];
    let pageToken = '';
    do {
      const page = await list({ pageSize: 5, pageToken });
      seen.push(...page.tasks.map(({ id }) => id));
      pageToken = page.nextPageToken;
    } while (pageToken !== '');
    expect(seen).toHaveLength(12);
    expect(new Set(seen)).toEqual(new Set(made));
  });

  it('refuses a page token of another caller, of other filters, and a made-up one', async () => {
    const { nextPageToken: pageToken } = await list({ pageSize: 5 });
    const other = await mesh.tokenOf('bob');
    const refused = [
      await rpc(url, 'ListTasks', { pageSize: 5, pageToken }, { token: other }),
      await rpc(url, 'ListTasks', { pageToken, contextId: 'even' }, { token }),
      await rpc(url, 'ListTasks', { pageToken: `${pageToken}x` }, { token }),
      await rpc(url, 'ListTasks', { pageToken: 'nonsense' }, { token }),
    ];
    expect(refused.map((reply) => errorOf(reply).code)).toEqual([-32602, -32602, -32602, -32602]);
  });

  it('filters by context, status and time, the instant itself included', async () => {
    expect((await list({ contextId: 'even' })).tasks).toHaveLength(6);
    expect((await list({ status: 'TASK_STATE_SUBMITTED' })).tasks).toHaveLength(1);
    expect((await list({ status: 'TASK_STATE_COMPLETED' })).tasks).toHaveLength(11);
    expect((await list({ status: 'TASK_STATE_AUTH_REQUIRED' })).tasks).toEqual([]);
    const [newest] = (await list()).tasks;
    const after = { statusTimestampAfter: newest?.status.timestamp };
    expect((await list(after)).tasks.map(({ id }) => id)).toContain(newest?.id);
  });

  it.each([0, 101, -1, 1.5, '5'])('refuses a page of %j', async (pageSize) => {
    expect(errorOf(await rpc(url, 'ListTasks', { pageSize }, { token })).code).toBe(-32602);
  });

  it('is of 1.0 only', async () => {
    const reply = await rpc(url, 'ListTasks', {}, { token, version: '0.3' });
    expect(errorOf(reply).code).toBe(-32601);
  });

  it('looks for every phase in some state', () => {
    expect(new Set(Object.values(phasesShownAs).flat()).size).toBe(22);
  });
});

describe('totalSize', () => {
  beforeAll(async () => {
    const contextId = 'mixed';
    const verification = 'submitter';
    const send = async (text: string, extension: object = { verification }) =>
      taskOf(
        await rpc(
          url,
          'SendMessage',
          { message: message(text, { contextId }, extension) },
          { token },
        ),
      ).id;
    const asking: RunTask = async () => ({
      ...{ kind: 'asked' },
      question: { kind: 'question', to: 'submitter', text: 'Which?', options: [] },
    });
    for (let n = 0; n < 5; n++) await send(`to verify ${n}`);
    for (let n = 0; n < 2; n++) await send(`for good ${n}`, { verification: 'none' });
    for (const verdict of ['verified', 'refused']) {
      const taskId = await send(`is ${verdict}`);
      const note = 'Looked at.';
      taskOf(await rpc(url, 'cardmesh/verify', { taskId, verdict, note }, { token }));
    }
    const archived = await send('put away', { verification: 'none' });
    await rpc(url, 'cardmesh/steer', { taskId: archived, do: 'archive' }, { token });
    mesh.runs.set('adolf', asking);
    for (let n = 0; n < 3; n++) await send(`asks ${n}`);
    mesh.runs.set('adolf', async () => ({ kind: 'parked', reason: 'a wall' }));
    await send('has worked, waits');
    mesh.away.set('adolf', { a: 0, reasons: ['away'] });
    for (let n = 0; n < 2; n++) await send(`waits ${n}`);
    const canceled = await send('stop');
    await rpc(url, 'CancelTask', { id: canceled }, { token });
    mesh.away.delete('adolf');
    mesh.runs.set('adolf', shout);
  });

  const viewers: readonly (readonly [string, () => Promise<string>])[] = [
    ['who may verify', () => Promise.resolve(token)],
    ['the same person without that scope', () => mesh.tokenOf('alvis', ['tasks:read'])],
    ['who reads all', () => mesh.tokenOf('auditor', ['tasks:read', 'tasks:read-all'])],
    ['who reads all and verifies for the submitter', () => mesh.tokenOf('operator', scopes)],
    ['who sees none', () => mesh.tokenOf('bob')],
  ];

  it.each(viewers)('is exact for %s, whatever the status, on every page', async (_who, make) => {
    const as = await make();
    const all = (await list({ pageSize: 100 }, as)).tasks;
    const shown = new Map<string, number>();
    for (const { status } of all) shown.set(status.state, (shown.get(status.state) ?? 0) + 1);
    for (const state of a2aStates) {
      const status = `TASK_STATE_${state}`;
      let [pageToken, listed] = ['', 0];
      do {
        const page = await list({ status, pageSize: 2, pageToken }, as);
        expect([status, page.totalSize]).toEqual([status, shown.get(status) ?? 0]);
        expect(page.tasks.every((task) => task.status.state === status)).toBe(true);
        listed += page.tasks.length;
        pageToken = page.nextPageToken;
      } while (pageToken !== '');
      expect([status, listed]).toEqual([status, shown.get(status) ?? 0]);
    }
  });

  it('is exact within a context as well', async () => {
    const counts = await Promise.all(
      a2aStates.map(async (state) => {
        const page = await list({ status: `TASK_STATE_${state}`, contextId: 'mixed', pageSize: 1 });
        return [state, page.totalSize] as const;
      }),
    );
    expect(Object.fromEntries(counts)).toEqual({
      ...{ SUBMITTED: 2, WORKING: 1, INPUT_REQUIRED: 8, COMPLETED: 4, FAILED: 1, CANCELED: 1 },
      REJECTED: 0,
    });
  });
});

import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createAuthenticate } from '../../agents/auth/authenticate.ts';
import { issueRunToken, readRunToken } from '../../agents/auth/run-token.ts';
import { tokenStore } from '../../agents/auth/token-store.ts';
import type { Card } from '../../cards/schema/card.ts';
import { Fence } from '../../fabric/domain/ids.ts';
import type { RunEnd } from '../../fabric/ports/run-task.ts';
import { answerQuestion } from '../../fabric/queue/answer.ts';
import { claimTask } from '../../fabric/queue/claim.ts';
import { systemRandom } from '../../fabric/telemetry/system-random.ts';
import { manualClock } from '../support/manual-clock.ts';
import { person, queueMesh } from '../support/queue-mesh.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

async function stores() {
  const path = join(await temporaryFolder(), 'tokens.json');
  const make = () => tokenStore({ path, clock: manualClock(), random: systemRandom });
  return { path, one: make(), other: make() };
}
const wish = { principalId: 'alvis', role: 'human', scopes: ['tasks:read'], label: 'l' } as const;
const wanted = { ...wish, scopes: [...wish.scopes] };

describe('API tokens', () => {
  it('are kept as digests only, in a file that nobody else reads', async () => {
    const { path, one } = await stores();
    const { token, record } = await one.createToken(wanted);
    expect(token).toMatch(/^mesh_[0-9a-f]{12}_[0-9a-f]{64}$/);
    expect(JSON.stringify(record)).not.toContain(token.split('_')[2]);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(one.find(token)).toEqual(record);
  });

  it('made or revoked by another process hold or end at once', async () => {
    const { one, other } = await stores();
    const { token, record } = await one.createToken(wanted);
    expect(other.find(token)?.principalId).toBe('alvis');
    const revision = one.revision();
    expect(await other.revokeToken(record.tokenId)).toBe(true);
    expect(one.find(token)).toBeUndefined();
    expect(one.revision()).not.toBe(revision);
    expect(await other.revokeToken(record.tokenId)).toBe(false);
  });

  it('are believed with their own secret only', async () => {
    const { one } = await stores();
    const [{ token }, { token: other }] = [
      await one.createToken(wanted),
      await one.createToken(wanted),
    ];
    const [, id] = token.split('_');
    expect(one.find(`mesh_${id}_${other.split('_')[2]}`)).toBeUndefined();
    expect(one.find('nonsense')).toBeUndefined();
    expect(await one.listTokens()).toHaveLength(2);
  });

  it('are all refused while their file is broken, with a word about what to do', async () => {
    const { path, one } = await stores();
    const { token } = await one.createToken(wanted);
    await writeFile(path, '{"version":2}');
    expect(() => one.find(token)).toThrow(/Restore it/);
  });
});

describe('a run token', () => {
  const run = { agentId: 'adolf', taskId: 'f'.repeat(32), fence: 2 };
  const nowMs = Date.UTC(2026, 10, 30);

  it('says its run, until its time is over, under the same mesh secret only', async () => {
    const issued = { ...run, meshSecret: 'one secret', expiresAtMs: nowMs + 60_000 };
    const token = await issueRunToken(issued);
    expect(await readRunToken('one secret', token, nowMs)).toEqual({
      ...run,
      expiresAtMs: nowMs + 60_000,
    });
    expect(await readRunToken('one secret', token, nowMs + 60_000)).toBeUndefined();
    expect(await readRunToken('another', token, nowMs)).toBeUndefined();
    expect(await readRunToken('one secret', `${token}x`, nowMs)).toBeUndefined();
  });

  const ends: Readonly<Record<string, RunEnd>> = {
    'gave its attempt back': { kind: 'parked', reason: 'the quota is used up' },
    'was handed back': { kind: 'stopped' },
    asked: {
      kind: 'asked',
      question: { kind: 'question', to: 'submitter', text: 'Which?', options: [] },
    },
    counts: { kind: 'failed', reason: 'exit 1', retryable: true },
  };

  it.each(Object.entries(ends))(
    'of a run that %s is dead for the next run too',
    async (_n, end) => {
      const { deps, submit, run: runTo, stateOf } = queueMesh();
      const { taskId } = await submit();
      const policy = deps.directory.agent('adolf')!;
      const claim = () => claimTask(deps, taskId, { policy, incarnation: 'test', startNow: true });
      const card = { id: 'adolf', trust: 'trusted' } as Card;
      const authenticate = createAuthenticate({
        registry: { card: () => card, current: () => [] as never },
        tokens: (await stores()).one,
        ...{ board: deps.board, meshSecret: deps.meshSecret, clock: deps.clock },
      });
      const entered = async (fence: number) => {
        const { meshSecret } = deps;
        const expiresAtMs = deps.clock.nowMs() + 60_000;
        const bound = { ...run, taskId, fence, meshSecret, expiresAtMs };
        const headers = { authorization: `Bearer ${await issueRunToken(bound)}` };
        const request = new Request('http://mesh.test/', { headers });
        return authenticate(request, 'helper').then(
          ({ run: granted }) => granted,
          () => 'refused',
        );
      };
      await runTo(taskId, end);
      const first = Fence.parse(2);
      expect(await entered(first)).toBe('refused');
      const { question } = await stateOf(taskId);
      if (question) {
        const { decisionId } = question;
        const answer = { principal: person('alvis'), uid: taskId, decisionId, value: 'This.' };
        await answerQuestion(deps, answer);
      }
      const held = await claim();
      expect(await entered(first)).toBe('refused');
      expect(await entered(held!.fence)).toEqual({ taskId, fence: held!.fence });
    },
  );
});

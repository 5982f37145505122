import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { exitCodeOf } from '../../cli/exit-codes.ts';
import { rpc, rpcStream } from '../../cli/rpc.ts';
import { StreamFrame } from '../../agents/calls/wire-task.ts';
import { codeOf, failed, json, meshOf, result, sse, task } from '../support/answering-mesh.ts';

const call = { method: 'GetTask', params: {}, signal: new AbortController().signal };

describe('errors of the mesh, as the command sees them', () => {
  it.each([
    [
      'a reason of ours',
      () => failed(40905, 'Lost.', [{ reason: 'LEASE_LOST', domain: 'cardmesh' }]),
      'LEASE_LOST',
    ],
    [
      'a protocol error',
      () => failed(-32001, 'No task.', [{ reason: 'TASK_NOT_FOUND' }]),
      'NOT_FOUND',
    ],
    ['an unknown method', () => failed(-32601, 'No method.'), 'VALIDATION_ERROR'],
    ['HTTP 401', () => json({ title: 'No' }, 401), 'UNAUTHENTICATED'],
    [
      'a problem document',
      () => json({ detail: 'No such agent.', code: 'NOT_FOUND' }, 404),
      'NOT_FOUND',
    ],
    ['HTTP 503', () => new Response('down', { status: 503 }), 'FABRIC_DOWN'],
    ['a page that is no mesh', () => new Response('<html>'), 'FABRIC_DOWN'],
    ['a dead address', () => Promise.reject(new TypeError('fetch failed')), 'FABRIC_DOWN'],
    ['another shape', () => result({ nothing: true }), 'VALIDATION_ERROR'],
  ] as const)('%s', async (_name, answer, code) => {
    const got = await codeOf(rpc(meshOf(answer), call, z.object({ id: z.string() })));
    expect(got).toBe(code);
    expect(exitCodeOf[code]).toBeGreaterThan(2);
  });

  it('sends version and token, and never the token in the address', async () => {
    const seen: RequestInit[] = [];
    const mesh = meshOf((_body, init) => {
      seen.push(init);
      return result({ id: 'x' });
    });
    await rpc(mesh, { ...call, agentId: 'adolf' }, z.object({ id: z.string() }));
    const headers = new Headers(seen[0]?.headers);
    expect(headers.get('authorization')).toBe('Bearer t');
    expect(headers.get('a2a-version')).toBe('1.0');
    // It would carry the token to whomever it names.
    expect(seen[0]?.redirect).toBe('error');
  });
});

describe('streams', () => {
  it.each([1, 3, 64, 4_096])('reads frames cut into %d bytes', async (size) => {
    const frames = [{ task: task('WORKING') }, { message: { parts: [{ text: 'Grüße 🙂' }] } }];
    const got = [];
    for await (const frame of rpcStream(
      meshOf(() => sse(frames, { size })),
      call,
      StreamFrame,
    ))
      got.push(frame);
    expect(got).toHaveLength(2);
    expect(got[1]).toMatchObject({ message: { parts: [{ text: 'Grüße 🙂' }] } });
  });
});

import { describe, expect, it } from 'vitest';
import {
  toLegacyRpcError,
  toProblem,
  toRpcError,
  type FaultReporter,
} from '../../agents/a2a/error-table.ts';
import { ProtocolError } from '../../agents/a2a/protocol-error.ts';
import { MeshError, meshErrorCodes } from '../../fabric/domain/errors.ts';

const faults: FaultReporter = { report: () => 'f-1' };

describe('an error at the edge', () => {
  it.each(meshErrorCodes)(
    '%s has a code outside what A2A and JSON-RPC reserve, or its own',
    (code) => {
      const error = new MeshError(code, 'What failed. What to do.', { path: 'field' });
      const shown = toRpcError(error, faults);
      const isReserved = shown.code >= -32_768 && shown.code <= -32_000;
      expect(isReserved ? [-32602, -32001] : [shown.code]).toContain(shown.code);
      expect(shown.data).toContainEqual(
        expect.objectContaining({
          '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
          reason: code,
          domain: 'cardmesh',
        }),
      );
      expect(toProblem(error, faults)).toMatchObject({ body: { code, detail: error.message } });
    },
  );

  it('gives an instant in ISO form and no undefined fact', () => {
    const facts = { retryAtMs: 0, agentId: undefined };
    const shown = toRpcError(new MeshError('NO_TARGET', 'Away.', facts), faults);
    expect(shown.data).toEqual([
      expect.objectContaining({ metadata: { retryAt: '1970-01-01T00:00:00.000Z' } }),
    ]);
  });

  it('has one object as data in 0.3', () => {
    const shown = toRpcError(new ProtocolError('TASK_NOT_CANCELABLE', 'Too late.'), faults);
    expect(toLegacyRpcError(shown)).toMatchObject({
      code: -32002,
      data: { reason: 'TASK_NOT_CANCELABLE', domain: 'a2a-protocol.org' },
    });
  });

  it('of no known kind tells nothing but the id of its log line', () => {
    const shown = toRpcError(new Error('password=hunter2'), faults);
    expect(JSON.stringify(shown)).not.toContain('hunter2');
    expect(shown).toMatchObject({
      code: -32603,
      message: expect.stringContaining('f-1') as unknown,
    });
    expect(toProblem(new Error('password=hunter2'), faults).status).toBe(500);
  });
});

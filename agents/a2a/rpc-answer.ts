import { LegacyJsonRpcTransportHandler } from '@a2a-js/sdk/compat/v0_3/server';
import { JsonRpcTransportHandler } from '@a2a-js/sdk/server';
import type { Call } from './call.ts';
import type { Edge } from './edge.ts';
import type { Envelope } from './envelope.ts';
import { toLegacyRpcError, toRpcError, type FaultReporter, type RpcError } from './error-table.ts';
import { extensionMethod } from './extension-methods.ts';
import { MeshRequestHandler } from './request-handler.ts';
import type { WireVersion } from './wire-version.ts';

/** A JSON-RPC answer, ready to be written. */
export type RpcAnswer = { readonly jsonrpc: string; readonly id: Envelope['id'] } & (
  { readonly result: unknown } | { readonly error: RpcError }
);

/** Either one answer, or many. */
export type RpcOutcome =
  | { readonly kind: 'one'; readonly answer: unknown }
  | { readonly kind: 'stream'; readonly answers: AsyncGenerator<unknown, void, undefined> };

export interface RpcAnswerer {
  /** Carries out a checked request. Never rejects: an error is an answer. */
  answer(envelope: Envelope, call: Call): Promise<RpcOutcome>;
  /** An error as an answer in that generation. */
  failed(id: Envelope['id'], error: unknown, version: WireVersion): RpcAnswer;
}

/**
 * Requests by the SDK's two transports over one handler, and our own methods beside them. An error of
 * ours takes the place of what the transport made of it.
 */
export function rpcAnswerer(edge: Edge, faults: FaultReporter): RpcAnswerer {
  const handler = new MeshRequestHandler(edge);
  const transports = {
    '1.0': new JsonRpcTransportHandler(handler),
    '0.3': new LegacyJsonRpcTransportHandler(handler),
  } satisfies Record<WireVersion, unknown>;

  const failed: RpcAnswerer['failed'] = (id, error, version) => {
    const shown = toRpcError(error, faults);
    return { jsonrpc: '2.0', id, error: version === '0.3' ? toLegacyRpcError(shown) : shown };
  };
  const carried = async ({ id, method, params }: Envelope, call: Call): Promise<RpcOutcome> => {
    const body = { jsonrpc: '2.0', id, method, params: params ?? {} };
    const outcome = await transports[call.version].handle(body, call);
    if (Symbol.asyncIterator in outcome) return { kind: 'stream', answers: outcome };
    const isOurs = outcome.error !== undefined && call.failure !== undefined;
    return { kind: 'one', answer: isOurs ? failed(id, call.failure, call.version) : outcome };
  };
  const extended = async (envelope: Envelope, call: Call): Promise<RpcOutcome> => {
    const { id, method, params } = envelope;
    const made = await extensionMethod(method)?.(edge, call, params ?? {});
    if (made?.kind !== 'task') return one(id, made?.value);
    const read = call.version === '1.0' ? 'GetTask' : 'tasks/get';
    const shown = await carried({ id, method: read, params: { id: made.taskId } }, call);
    const task = shown.kind === 'one' ? (shown.answer as { result?: unknown }).result : undefined;
    return task === undefined ? shown : one(id, { task });
  };
  return {
    failed,
    async answer(envelope, call) {
      try {
        const isOurs = extensionMethod(envelope.method) !== undefined;
        return await (isOurs ? extended(envelope, call) : carried(envelope, call));
      } catch (error) {
        return { kind: 'one', answer: failed(envelope.id, error, call.version) };
      }
    },
  };
}

const one = (id: Envelope['id'], result: unknown): RpcOutcome => ({
  kind: 'one',
  answer: { jsonrpc: '2.0', id, result },
});

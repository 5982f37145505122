import { composeMesh, type ComposeOptions, type Mesh } from '../../cli/compose.ts';
import { loadConfig, type Environment } from '../../cli/config.ts';
import { homePaths } from '../../cli/home.ts';
import { tokenStore, type NewToken, type TokenStore } from '../../agents/auth/token-store.ts';
import { TaskId } from '../../fabric/domain/ids.ts';
import type { TaskState } from '../../fabric/domain/state.ts';
import type { TaskLog } from '../../fabric/ports/task-board.ts';
import { systemClock } from '../../fabric/telemetry/system-clock.ts';
import { systemRandom } from '../../fabric/telemetry/system-random.ts';
import { gitEnvironment } from './card-home.ts';
import { message, taskOf, type RpcReply } from './edge-calls.ts';
import { recordingLog } from './recording-log.ts';

/** All of a mesh in this process, without a socket. */
export interface ComposedMesh {
  readonly mesh: Mesh;
  readonly tokens: TokenStore;
  /** Asks the front as whoever `token` belongs to; by default the operator. */
  ask(path: string, init?: RequestInit, token?: string): Promise<Response>;
  /** One JSON-RPC call of the operator to an agent. */
  rpc(agentId: string, method: string, params: unknown): Promise<RpcReply>;
  /** Puts a task on the board, by the operator, without waiting for it. */
  submit(agentId: string, text: string, extension?: object): Promise<TaskId>;
  /** @throws {Error} for a task that is not there */
  logOf(uid: TaskId): Promise<TaskLog>;
  stateOf(uid: TaskId): Promise<TaskState>;
  /** A new API token and its id. */
  tokenFor(wish: Partial<NewToken>): Promise<{ readonly token: string; readonly tokenId: string }>;
}

/** No variable of this machine but what git needs. */
export const testEnvironment: Environment = {
  ...{ home: undefined, url: undefined, token: undefined, meshSecret: undefined },
  ...{
    gatewayUrl: undefined,
    gatewayKey: undefined,
    kanboard: {},
    logLevel: undefined,
    noColor: true,
  },
  all: gitEnvironment,
};

export const frontUrl = 'http://front.test';

/** Composes the mesh of a home; stop it before the home is removed. */
export async function composedMesh(
  home: string,
  change: Partial<ComposeOptions> = {},
): Promise<ComposedMesh> {
  const paths = homePaths(home);
  const mesh: Mesh = await composeMesh({
    ...{ paths, environment: testEnvironment, config: await loadConfig(home, testEnvironment) },
    ...{ clock: systemClock, random: systemRandom, log: recordingLog() },
    publicUrl: () => frontUrl,
    fetch: (input, init) => Promise.resolve(mesh.front.fetch(new Request(input, init))),
    ...change,
  });
  const ask: ComposedMesh['ask'] = async (path, init = {}, token = mesh.token) => {
    const headers = new Headers(init.headers);
    headers.set('authorization', `Bearer ${token}`);
    return mesh.front.request(`${frontUrl}${path}`, { ...init, headers });
  };
  const rpc: ComposedMesh['rpc'] = async (agentId, method, params) => {
    const answer = await ask(`/agents/${agentId}/`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    });
    return (await answer.json()) as RpcReply;
  };
  const logOf = async (uid: TaskId) => {
    const log = await mesh.board.read(uid);
    if (log === undefined) throw new Error(`There is no task ${uid}.`);
    return log;
  };
  const tokens = tokenStore({ path: paths.tokens, clock: systemClock, random: systemRandom });
  return {
    ...{ mesh, tokens, ask, rpc, logOf },
    stateOf: async (uid) => (await logOf(uid)).state,
    async submit(agentId, text, extension) {
      const configuration = { returnImmediately: true };
      const params = { message: message(text, {}, extension), configuration };
      return TaskId.parse(taskOf(await rpc(agentId, 'SendMessage', params)).id);
    },
    async tokenFor(wish) {
      const usual = { principalId: 'operator', role: 'human' as const, scopes: [], label: 'test' };
      const { token, record } = await tokens.createToken({ ...usual, ...wish });
      return { token, tokenId: record.tokenId };
    },
  };
}

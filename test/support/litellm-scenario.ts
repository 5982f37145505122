import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Script } from './openai-upstream.ts';
import { startLiteLlm } from './services/litellm.ts';
import type { RunningLiteLlm } from './services/litellm.ts';

const providerError = (
  status: number,
  message: string,
  extra: Readonly<Record<string, string>> = {},
  headers: Readonly<Record<string, string>> = {},
): Script => ({
  kind: 'error',
  status,
  body: { error: { message, type: 'provider_error', param: null, code: null, ...extra } },
  headers,
});

/** What the upstream does for each model that the proxy serves; the model's name says it. */
export const upstreamScripts: Readonly<Record<string, Script>> = {
  ok: { kind: 'text', text: 'hello from upstream' },
  tool: { kind: 'tool', name: 'look', arguments: '{"q":1}' },
  empty: { kind: 'text', text: '' },
  vectors: { kind: 'vector', vector: [0.25, 0.5, 0.75] },
  'wall-iso': providerError(
    429,
    'Usage limit reached. quota_window=5h reset_at=2026-11-30T14:00:00Z',
    {},
    { 'retry-after': '7200' },
  ),
  'wall-plain': providerError(429, 'Too many requests', {}, { 'retry-after': '30' }),
  'wall-400': providerError(400, 'You have reached your usage limit. It resets at 14:05 UTC.'),
  'wall-402': providerError(402, 'Insufficient credits'),
  'long-prompt': providerError(400, "This model's maximum context length is 8192 tokens.", {
    code: 'context_length_exceeded',
  }),
  'bad-words': providerError(400, 'The prompt was filtered: content_policy_violation'),
  'bad-key': providerError(401, 'Incorrect API key provided', { code: 'invalid_api_key' }),
  'down-500': providerError(500, 'boom'),
  'down-503': providerError(503, 'overloaded'),
  'down-529': providerError(529, 'overloaded'),
  silent: { kind: 'silent' },
  broken: {
    kind: 'brokenStream',
    text: 'one two ',
    error: { message: 'upstream died', type: 'server_error', code: '500' },
  },
  cut: { kind: 'cutStream', text: 'one two ' },
  cooled: providerError(429, 'Too many requests'),
};

/** The agents' gateway keys; `slow` may call once a minute, `mute` nothing. */
export const agentKeys = { adolf: 'sk-mesh-adolf', slow: 'sk-mesh-slow', mute: 'sk-mesh-mute' };

const digest = (key: string) => createHash('sha256').update(key).digest('hex');
const keysJson = JSON.stringify({
  agents: [
    { agent: 'adolf', sha256: digest(agentKeys.adolf), models: ['ok', 'tool'] },
    { agent: 'slow', sha256: digest(agentKeys.slow), models: ['ok'], rpm: 1 },
    { agent: 'mute', sha256: digest(agentKeys.mute) },
  ],
});

const free = 'input_cost_per_token: 0, output_cost_per_token: 0';

function configYaml(upstreamUrl: string): string {
  const deployment = (name: string, params: string, info: string) =>
    `  - {model_name: ${name}, litellm_params: {api_key: none, ${params}}, model_info: {${info}}}\n`;
  const upstream = (model: string) => `model: openai/${model}, api_base: "${upstreamUrl}"`;
  const scripted = Object.keys(upstreamScripts)
    .filter((name) => name !== 'cooled' && name !== 'vectors')
    .map((name) => {
      const timeout = name === 'silent' ? 1 : 20;
      return deployment(name, `${upstream(name)}, timeout: ${timeout}`, `id: dep-${name}, ${free}`);
    });
  return [
    'model_list:\n',
    ...scripted,
    deployment('vectors', upstream('vectors'), 'id: dep-vectors, mode: embedding'),
    // Only a group of two rests after failures: the last deployment of a group is never cooled down.
    deployment('cooled', upstream('cooled'), `id: dep-cooled-a, ${free}`),
    deployment('cooled', upstream('cooled'), `id: dep-cooled-b, ${free}`),
    deployment('unreachable', 'model: openai/x, api_base: "http://127.0.0.1:9/v1"', 'id: dep-gone'),
    deployment(
      'dear',
      `${upstream('ok')}, max_budget: 0.01, budget_duration: 1d`,
      'id: dep-dear, input_cost_per_token: 1, output_cost_per_token: 1',
    ),
    'router_settings:\n',
    '  {num_retries: 0, allowed_fails: 0, cooldown_time: 30, fallbacks: [], enable_pre_call_checks: true}\n',
    'litellm_settings: {request_timeout: 30, drop_params: true, enable_post_custom_auth_checks: true}\n',
    'general_settings:\n',
    '  {always_include_stream_usage: true, include_call_id_in_error_body: true,\n',
    '   custom_auth: mesh_auth.user_api_key_auth, custom_auth_run_common_checks: true}\n',
  ].join('');
}

/** The real proxy before the scripted upstream, with the keys file and the auth module that we ship. */
export function startScenario(upstreamUrl: string): Promise<RunningLiteLlm> {
  const auth = join(import.meta.dirname, '../../deploy/litellm/mesh_auth.py');
  return startLiteLlm({
    configYaml: configYaml(upstreamUrl),
    files: { 'mesh_auth.py': readFileSync(auth, 'utf8'), 'keys.json': keysJson },
    env: { MESH_GATEWAY_KEYS: 'keys.json' },
  });
}

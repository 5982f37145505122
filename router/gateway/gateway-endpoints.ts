import { z } from 'zod';
import type { Clock } from '../../fabric/ports/clock.ts';
import { failureOf, toFailure } from './call-failure.ts';
import { classify } from './error-table.ts';
import type { CallFailure, GatewayModelInfo, Listed } from './gateway-client.ts';
import { headerOf } from './served-by.ts';

export interface EndpointOptions {
  /** Without `/v1` and without a slash at its end. */
  readonly root: string;
  readonly apiKey: string;
  readonly fetch: typeof fetch;
  readonly clock: Clock;
  readonly timeoutMs: number;
}

const Models = z.looseObject({ data: z.array(z.looseObject({ id: z.string() })) });

const Info = z.looseObject({
  data: z.array(
    z.looseObject({
      model_name: z.string(),
      model_info: z
        .looseObject({
          id: z.string().nullish(),
          mode: z.string().nullish(),
          max_input_tokens: z.number().nullish(),
          input_cost_per_token: z.number().nullish(),
          output_cost_per_token: z.number().nullish(),
        })
        .nullish(),
    }),
  ),
});

const ErrorBody = z.looseObject({
  error: z.looseObject({
    message: z.string().nullish(),
    type: z.string().nullish(),
    code: z.union([z.string(), z.number()]).nullish(),
  }),
});

/** The endpoints that LiteLLM has beside OpenAI's; only those that ask no model. */
export function gatewayEndpoints(options: EndpointOptions) {
  return {
    async listModels(signal?: AbortSignal): Promise<Listed<string>> {
      const got = await get(options, '/v1/models', Models, signal);
      return got.ok ? { ok: true, items: got.body.data.map(({ id }) => id) } : got;
    },
    async modelInfo(signal?: AbortSignal): Promise<Listed<GatewayModelInfo>> {
      const got = await get(options, '/v1/model/info', Info, signal);
      return got.ok ? { ok: true, items: got.body.data.map(toInfo) } : got;
    },
    async health(signal?: AbortSignal): Promise<{ readonly ok: true } | CallFailure> {
      const got = await get(options, '/health/liveliness', z.unknown(), signal);
      return got.ok ? { ok: true } : got;
    },
  };
}

type Got<Body> = { readonly ok: true; readonly body: Body } | CallFailure;

async function get<Body>(
  { root, apiKey, fetch: send, clock, timeoutMs }: EndpointOptions,
  path: string,
  schema: z.ZodType<Body>,
  signal: AbortSignal | undefined,
): Promise<Got<Body>> {
  const what = `The gateway's ${path}`;
  const bound = AbortSignal.timeout(timeoutMs);
  try {
    const response = await send(root + path, {
      headers: { authorization: `Bearer ${apiKey}`, accept: 'application/json' },
      redirect: 'error',
      signal: signal === undefined ? bound : AbortSignal.any([signal, bound]),
    });
    const body = parseJson(await response.text());
    if (!response.ok) {
      const { type, code, message } = ErrorBody.safeParse(body).data?.error ?? {};
      const evidence = {
        status: response.status,
        message: message ?? '',
        header: headerOf(response.headers),
        ...(type && { type }),
        ...(code != null && { code: String(code) }),
      };
      return failureOf(classify(evidence, clock.nowMs()), { what });
    }
    const parsed = schema.safeParse(body);
    if (parsed.success) return { ok: true, body: parsed.data };
    const detail = 'its answer has another shape than LiteLLM 1.106 to 1.111 give';
    return failureOf({ class: 'config', retry: 'never' }, { what }, detail);
  } catch (error) {
    const stopped = signal?.aborted === true;
    return toFailure(error, { what, nowMs: clock.nowMs(), stopped, timeoutMs });
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function toInfo({ model_name: name, model_info: info }: z.infer<typeof Info>['data'][number]) {
  return {
    name,
    ...(info?.id != null && { deploymentId: info.id }),
    ...(info?.mode != null && { mode: info.mode }),
    ...(info?.max_input_tokens != null && { maxInputTokens: info.max_input_tokens }),
    ...(info?.input_cost_per_token != null && { inputCostUsd: info.input_cost_per_token }),
    ...(info?.output_cost_per_token != null && { outputCostUsd: info.output_cost_per_token }),
  };
}

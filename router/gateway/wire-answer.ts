import { z } from 'zod';
import type { ToolCall, TokenUsage } from './gateway-client.ts';

const Usage = z
  .looseObject({
    prompt_tokens: z.number().nonnegative(),
    completion_tokens: z.number().nonnegative().optional(),
  })
  .transform(({ prompt_tokens: promptTokens, completion_tokens: completionTokens = 0 }) => ({
    promptTokens,
    completionTokens,
  }));

const Completion = z.looseObject({
  choices: z
    .array(
      z.looseObject({
        finish_reason: z.string().nullish(),
        message: z.looseObject({
          content: z.string().nullish(),
          tool_calls: z
            .array(
              z.looseObject({
                id: z.string(),
                function: z.looseObject({ name: z.string(), arguments: z.string() }),
              }),
            )
            .nullish(),
        }),
      }),
    )
    .min(1),
  usage: Usage.nullish(),
});

/** An answer without the gateway's part. */
export interface WireAnswer {
  readonly text: string;
  readonly toolCalls: readonly ToolCall[];
  readonly finish: string;
  readonly usage?: TokenUsage;
}

/** `/v1/chat/completions` without `stream`; undefined where the body has another shape. */
export function parseCompletion(body: unknown): WireAnswer | undefined {
  const parsed = Completion.safeParse(body);
  const choice = parsed.data?.choices[0];
  if (choice === undefined) return undefined;
  const { message, finish_reason: finish } = choice;
  const toolCalls = (message.tool_calls ?? []).map((call) => ({ id: call.id, ...named(call) }));
  const usage = parsed.data?.usage;
  return {
    text: message.content ?? '',
    toolCalls,
    finish: finish ?? '',
    ...(usage && { usage }),
  };
}

const named = (call: { function: { name: string; arguments: string } }) => ({
  name: call.function.name,
  arguments: call.function.arguments,
});

const Chunk = z.looseObject({
  choices: z
    .array(
      z.looseObject({
        finish_reason: z.string().nullish(),
        delta: z
          .looseObject({
            content: z.string().nullish(),
            tool_calls: z
              .array(
                z.looseObject({
                  index: z.int().min(0).max(1_000).optional(),
                  id: z.string().nullish(),
                  function: z
                    .looseObject({ name: z.string().nullish(), arguments: z.string().nullish() })
                    .nullish(),
                }),
              )
              .nullish(),
          })
          .nullish(),
      }),
    )
    .default([]),
  usage: Usage.nullish(),
});

/** Puts a stream's pieces together; the last chunk may have usage and no choice at all. */
export class StreamedAnswer {
  #text = '';
  #finish = '';
  #usage: TokenUsage | undefined;
  readonly #calls: { id: string; name: string; arguments: string }[] = [];

  /** @returns the new text of this chunk, '' for none; undefined where it is no chunk. */
  add(body: unknown): string | undefined {
    const parsed = Chunk.safeParse(body);
    if (!parsed.success) return undefined;
    this.#usage = parsed.data.usage ?? this.#usage;
    const choice = parsed.data.choices[0];
    const piece = choice?.delta?.content ?? '';
    this.#text += piece;
    this.#finish = choice?.finish_reason ?? this.#finish;
    for (const part of choice?.delta?.tool_calls ?? []) {
      const call = (this.#calls[part.index ?? 0] ??= { id: '', name: '', arguments: '' });
      call.id ||= part.id ?? '';
      call.name += part.function?.name ?? '';
      call.arguments += part.function?.arguments ?? '';
    }
    return piece;
  }

  /** undefined: the stream ended without saying that it is complete. */
  end(): WireAnswer | undefined {
    if (this.#finish === '') return undefined;
    return {
      text: this.#text,
      toolCalls: this.#calls.filter(({ name }) => name !== ''),
      finish: this.#finish,
      ...(this.#usage && { usage: this.#usage }),
    };
  }
}

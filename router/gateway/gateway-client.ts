import type { ErrorClass, RetryAdvice } from './error-table.ts';

/** On whose behalf a call is made; every call carries it, for traces and spend logs. */
export interface CallOrigin {
  readonly agentId: string;
  readonly taskId: string;
  readonly queue: string;
  /** The family of tasks, the trace's session. */
  readonly contextId: string;
  readonly traceparent?: string;
}

export type ChatMessage =
  | { readonly role: 'system' | 'user'; readonly content: string }
  | {
      readonly role: 'assistant';
      readonly content: string;
      readonly toolCalls?: readonly ToolCall[];
    }
  | { readonly role: 'tool'; readonly toolCallId: string; readonly content: string };

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** JSON as the model wrote it; parse it at the tool's edge. */
  readonly arguments: string;
}

export interface ToolOffer {
  readonly name: string;
  readonly description: string;
  /** JSON Schema. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

export interface ChatRequest {
  /** `model_name` at the gateway. */
  readonly model: string;
  readonly messages: readonly ChatMessage[];
  readonly tools?: readonly ToolOffer[];
  readonly temperature?: number;
  readonly maxTokens?: number;
  readonly origin: CallOrigin;
  readonly timeoutMs: number;
  /** Bound of a parsed reset: the longest quota window of the Card, else 6 h. */
  readonly resetCapMs?: number;
}

export interface TokenUsage {
  readonly promptTokens: number;
  readonly completionTokens: number;
}

/** What the gateway said about how it answered. Absent fields: it did not say (any plain OpenAI server). */
export interface ServedBy {
  readonly callId?: string;
  readonly deploymentId?: string;
  readonly modelGroup?: string;
  readonly attemptedFallbacks?: number;
  readonly attemptedRetries?: number;
  /** US dollars. Streams have none: the header comes before the tokens are counted. */
  readonly costUsd?: number;
  readonly keySpendUsd?: number;
}

export interface ChatAnswer {
  readonly ok: true;
  readonly text: string;
  readonly toolCalls: readonly ToolCall[];
  readonly finish: string;
  readonly usage?: TokenUsage;
  readonly servedBy: ServedBy;
}

export interface CallFailure {
  readonly ok: false;
  readonly class: ErrorClass;
  /** Our words: no remote text, key or prompt in them. */
  readonly message: string;
  readonly retry: RetryAdvice;
  readonly resetAtMs?: number;
  /** Certain that the provider saw nothing of it, so that its quota lease can be released. */
  readonly notSent: boolean;
}

export interface Embeddings {
  readonly ok: true;
  readonly vectors: readonly (readonly number[])[];
  readonly usage?: TokenUsage;
  readonly servedBy: ServedBy;
}

export interface EmbedRequest {
  readonly model: string;
  readonly input: readonly string[];
  readonly origin: CallOrigin;
  readonly timeoutMs: number;
}

/** A model as `/v1/model/info` or, on a plain OpenAI server, `/v1/models` names it. */
export interface GatewayModelInfo {
  readonly name: string;
  readonly deploymentId?: string;
  readonly mode?: string;
  readonly maxInputTokens?: number;
  /** US dollars a token. */
  readonly inputCostUsd?: number;
  readonly outputCostUsd?: number;
}

export type Listed<Item> = { readonly ok: true; readonly items: readonly Item[] } | CallFailure;

/**
 * The model plane. Each method makes exactly one HTTP request, bounded in time, and answers with a value:
 * nothing is retried, no fallback is asked for, and nothing is thrown for what the other side did.
 */
export interface GatewayClient {
  chat(request: ChatRequest, signal?: AbortSignal): Promise<ChatAnswer | CallFailure>;
  /** `onText` gets each piece as it comes; a stream that ends in an error is a failure, never a short answer. */
  chatStream(
    request: ChatRequest,
    onText: (piece: string) => void,
    signal?: AbortSignal,
  ): Promise<ChatAnswer | CallFailure>;
  embed(request: EmbedRequest, signal?: AbortSignal): Promise<Embeddings | CallFailure>;
  /** Names that this key may call. */
  listModels(signal?: AbortSignal): Promise<Listed<string>>;
  modelInfo(signal?: AbortSignal): Promise<Listed<GatewayModelInfo>>;
  /** Whether the gateway itself lives; asks no model and costs no quota. */
  health(signal?: AbortSignal): Promise<{ readonly ok: true } | CallFailure>;
}

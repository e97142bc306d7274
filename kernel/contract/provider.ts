/** What the kernel asks of a model provider. */
import type { JsonSchema } from '../schema.ts';
import type { Message, ToolCallRequest } from './turn.ts';

/** A provider and one of its models. */
export interface ProviderRef {
  readonly provider: string;
  readonly model: string;
  readonly temperature?: number;
}

/** The next attempt after a failure; `delayMs` is waited first. */
export interface NextAttempt extends ProviderRef {
  readonly delayMs?: number;
}

/** A tool as the model sees it. */
export interface ToolSchema {
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonSchema;
}

/** One model call. `tools` is the same array as long as the offered set does not change: adapters may cache its serialised form by identity. */
export interface LlmRequest {
  readonly model: string;
  readonly system: string;
  readonly messages: readonly Message[];
  readonly tools: readonly ToolSchema[];
  readonly temperature?: number;
  /** Who asks; the built-in mock names it. */
  readonly agent: string;
}

/** Tokens as the provider reported them; `null` means not reported, never 0. */
export interface Usage {
  readonly promptTokens: number | null;
  readonly completionTokens: number | null;
  readonly totalTokens: number | null;
  readonly cachedTokens: number | null;
  readonly reasoningTokens: number | null;
}

/** A complete answer. */
export interface LlmReply {
  readonly content: string;
  readonly toolCalls: readonly ToolCallRequest[];
  readonly finishReason: string;
  readonly usage: Usage;
  /** Fields of the provider's message that it needs back on the next call, e.g. `reasoning_content`. */
  readonly echo?: Readonly<Record<string, unknown>>;
}

/**
 * Why a model call failed. `message` is safe to show: it names the provider and holds no secret and no raw body.
 * `retryable`: the same request may succeed later. `switchable`: another provider may succeed.
 */
export interface LlmFailure {
  readonly kind: 'network' | 'timeout' | 'http' | 'protocol' | 'missing' | 'aborted';
  readonly status?: number;
  readonly retryable: boolean;
  readonly switchable: boolean;
  readonly retryAfterMs?: number;
  readonly message: string;
}

/** How a model call ended: the complete answer, or why there is none. Half an answer is a failure. */
export type LlmResult = { readonly ok: true; readonly reply: LlmReply } | { readonly ok: false; readonly failure: LlmFailure };

/** A provider that can be asked. Registered under its name in the extension point `provider`. */
export interface Provider {
  readonly name: string;
  /**
   * Asks the model once: no retry inside. `onDelta` gets text in order, and their concatenation equals `reply.content`.
   * Never rejects: every failure, an abort too, is a value.
   */
  chat(request: LlmRequest, onDelta: (text: string) => void, signal: AbortSignal): Promise<LlmResult>;
  /** Model ids, sorted. Never rejects. */
  models(
    signal: AbortSignal,
  ): Promise<{ readonly ok: true; readonly models: readonly string[] } | { readonly ok: false; readonly failure: LlmFailure }>;
}

/** Where a provider is and how to authenticate. `url` is already checked and normalised. */
export interface ProviderSettings {
  readonly name: string;
  readonly apiKey: string | undefined;
  readonly baseUrl: string | undefined;
  readonly connectTimeoutMs: number;
  readonly readTimeoutMs: number;
  /** Hides secrets in a text that came from the provider; applied before anything of it enters a failure's message. */
  readonly mask?: (text: string) => string;
}

/**
 * Outgoing HTTP as handed to adapters: the guarded client, already bound to a policy of its caller.
 *
 * `request` resolves with the response's head, names of headers in lower case. It rejects, and its body throws, with ORYX_REFUSED for an
 * address that the policy forbids, with an error named `AbortError` once `signal` aborts, with one named `TimeoutError` when a deadline
 * passes, and with any other error when the network fails. Redirects are answers like any other. The caller reads the body to its end or
 * leaves the iteration; either releases the connection.
 */
export interface OutgoingHttp {
  request(request: {
    readonly method: 'GET' | 'POST';
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body?: string;
    readonly signal: AbortSignal;
    /** Until the connection stands. */
    readonly connectTimeoutMs: number;
    /** From then until the head, and between two pieces of the body. Absent: the client's own default. */
    readonly readTimeoutMs?: number;
  }): Promise<{ readonly status: number; readonly headers: Readonly<Record<string, string>>; readonly body: AsyncIterable<Uint8Array> }>;
}

/** Speaks one protocol. Registered by name: "openai" for OpenAI-compatible servers, "mock" for the built-in one. */
export interface ProviderAdapter {
  readonly name: string;
  connect(settings: ProviderSettings, http: OutgoingHttp): Pick<Provider, 'chat' | 'models'>;
}

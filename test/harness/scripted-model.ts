/** A model that says what a test tells it to. */
import type { LlmFailure, LlmReply, LlmRequest, LlmResult, ProviderAdapter, ToolCallRequest, Usage } from '../../kernel/index.ts';

/** What a test may script as the next answer. Deltas default to the words of `content`. */
export interface ScriptedAnswer {
  readonly content?: string;
  readonly calls?: readonly { readonly name: string; readonly arguments?: unknown; readonly id?: string }[];
  readonly deltas?: readonly string[];
  readonly failure?: Partial<LlmFailure>;
  readonly usage?: Partial<Usage>;
  readonly echo?: Readonly<Record<string, unknown>>;
  /** Awaited before the answer begins; an abort ends the wait. */
  readonly after?: Promise<unknown>;
}

type Script = ScriptedAnswer | ((request: LlmRequest) => ScriptedAnswer | Promise<ScriptedAnswer>);

/** The scripted model of a host: register answers in order; when none is left it says "ok". */
export interface ScriptedModel {
  willSay(content: string): void;
  willCall(name: string, args?: unknown, id?: string): void;
  willFail(failure?: Partial<LlmFailure>): void;
  will(script: Script): void;
  /** Answers every call for which nothing else is scripted. */
  always(script: Script): void;
  /** Every request, oldest first. */
  readonly requests: readonly LlmRequest[];
  readonly adapter: ProviderAdapter;
}

const NO_USAGE: Usage = { promptTokens: null, completionTokens: null, totalTokens: null, cachedTokens: null, reasoningTokens: null };

/** @param adapterName  the adapter that it stands in for */
export function scriptedModel(adapterName = 'openai'): ScriptedModel {
  const scripts: Script[] = [];
  const requests: LlmRequest[] = [];
  let fallback: Script = { content: 'ok' };
  const chat = async (request: LlmRequest, onDelta: (text: string) => void, signal: AbortSignal): Promise<LlmResult> => {
    requests.push(request);
    const script = scripts.shift() ?? fallback;
    const answer = typeof script === 'function' ? await script(request) : script;
    if (answer.after) await Promise.race([answer.after, abortOf(signal)]);
    if (signal.aborted) return { ok: false, failure: { kind: 'aborted', retryable: false, switchable: false, message: 'aborted' } };
    for (const delta of deltasOf(answer)) onDelta(delta);
    if (answer.failure) return { ok: false, failure: failureOf(answer.failure) };
    return { ok: true, reply: replyOf(answer, requests.length) };
  };
  return {
    willSay: (content) => void scripts.push({ content }),
    willCall: (name, args = {}, id) => void scripts.push({ calls: [{ name, arguments: args, ...(id !== undefined && { id }) }] }),
    willFail: (failure = {}) => void scripts.push({ failure }),
    will: (script) => void scripts.push(script),
    always: (script) => {
      fallback = script;
    },
    requests,
    adapter: { name: adapterName, connect: () => ({ chat, models: async () => ({ ok: true, models: ['scripted'] }) }) },
  };
}

function deltasOf({ deltas, content = '', failure }: ScriptedAnswer): readonly string[] {
  if (deltas) return deltas;
  return failure || content === '' ? [] : content.split(/(?<= )/);
}

function failureOf(failure: Partial<LlmFailure>): LlmFailure {
  return { kind: 'http', status: 500, retryable: false, switchable: true, message: 'the scripted model failed', ...failure };
}

function replyOf(answer: ScriptedAnswer, number: number): LlmReply {
  const toolCalls = (answer.calls ?? []).map((call, index): ToolCallRequest => {
    const argumentsJson = typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments ?? {});
    return { id: call.id ?? `call-${number}-${index}`, name: call.name, argumentsJson };
  });
  return {
    content: deltasOf(answer).join(''),
    toolCalls,
    finishReason: toolCalls.length > 0 ? 'tool_calls' : 'stop',
    usage: { ...NO_USAGE, ...answer.usage },
    ...(answer.echo && { echo: answer.echo }),
  };
}

function abortOf(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

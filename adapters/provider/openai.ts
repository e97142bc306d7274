/** Speaks the OpenAI chat protocol, which most model servers understand. */
import type { LlmRequest, LlmResult, OutgoingHttp, Provider, ProviderAdapter, ProviderSettings } from '../../kernel/index.ts';
import { readAnswer } from './answer-reader.ts';
import { CallFailure, FailureWriter } from './call-failure.ts';
import { isObject, parsedJson } from './json.ts';
import { readText } from './read-text.ts';
import { RequestWriter } from './request-body.ts';
import { sdkTransport } from './sdk-transport.ts';
import { endpointUrl } from './urls.ts';

const MAX_MODELS_BYTES = 4 * 1024 * 1024;

/** OpenAI itself and every server that is compatible: DeepSeek, Qwen, GLM, vLLM, Ollama, OpenRouter … */
export const openaiAdapter: ProviderAdapter = { name: 'openai', connect };

function connect(settings: ProviderSettings, http: OutgoingHttp): Pick<Provider, 'chat' | 'models'> {
  const failures = new FailureWriter(settings);
  const writer = new RequestWriter(settings.name);
  const send = sdkTransport(settings, http, failures);

  async function guarded<T>(
    signal: AbortSignal,
    ask: (baseUrl: string) => Promise<T>,
  ): Promise<{ readonly ok: true; readonly value: T } | (LlmResult & { readonly ok: false })> {
    if (settings.baseUrl === undefined) return { ok: false, failure: failures.missing('has no base URL') };
    try {
      return { ok: true, value: await ask(settings.baseUrl) };
    } catch (error) {
      return { ok: false, failure: signal.aborted ? failures.aborted() : failures.thrown(error) };
    }
  }

  return {
    async chat(request: LlmRequest, onDelta, signal) {
      const asked = await guarded(signal, async (baseUrl) => {
        const { body, decode } = writer.write(request);
        const answer = await send({ method: 'POST', url: endpointUrl(baseUrl, 'chat/completions'), body }, signal);
        return readAnswer(answer, decode, onDelta, failures);
      });
      return asked.ok ? { ok: true, reply: asked.value } : asked;
    },
    async models(signal) {
      const asked = await guarded(signal, async (baseUrl) => {
        const body = await send({ method: 'GET', url: endpointUrl(baseUrl, 'models') }, signal);
        const ids = modelIds(parsedJson(await readText(body, MAX_MODELS_BYTES)));
        if (ids === undefined) throw new CallFailure(failures.protocol('did not answer with a list of models'));
        return ids;
      });
      return asked.ok ? { ok: true, models: asked.value } : asked;
    },
  };
}

/** `{data: [{id}]}`, or the bare list that some servers send. */
function modelIds(answer: unknown): readonly string[] | undefined {
  const list: unknown = isObject(answer) ? answer['data'] : answer;
  if (!Array.isArray(list)) return undefined;
  const ids = list.flatMap((model) => (isObject(model) && typeof model['id'] === 'string' ? [model['id']] : []));
  return [...new Set(ids)].sort();
}

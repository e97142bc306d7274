/** Speaks the OpenAI chat protocol, which most model servers understand. */
import type { LlmFailure, LlmRequest, OutgoingHttp, Provider, ProviderAdapter, ProviderSettings } from '../../kernel/index.ts';
import { readAnswer } from './answer-reader.ts';
import { CallFailure, FailureWriter } from './call-failure.ts';
import { isObject, parsedJson } from './json.ts';
import { readText } from './read-text.ts';
import { RequestWriter } from './request-body.ts';
import { sdkTransport } from './sdk-transport.ts';
import { type Endpoint, endpointUrl } from './urls.ts';

const MAX_MODELS_BYTES = 4 * 1024 * 1024;

/** OpenAI itself and every server that is compatible: DeepSeek, Qwen, GLM, vLLM, Ollama, OpenRouter … */
export const openaiAdapter: ProviderAdapter = { name: 'openai', connect };

function connect(settings: ProviderSettings, http: OutgoingHttp): Pick<Provider, 'chat' | 'models'> {
  const failures = new FailureWriter(settings);
  const writer = new RequestWriter(settings.name);
  const send = sdkTransport(settings, http, failures);

  const urls = new Map<Endpoint, string>();
  const urlOf = (endpoint: Endpoint): string => {
    if (settings.baseUrl === undefined) throw new CallFailure(failures.missing('has no base URL'));
    const url = urls.get(endpoint) ?? endpointUrl(settings.baseUrl, endpoint);
    urls.set(endpoint, url);
    return url;
  };
  const failed = (error: unknown, signal: AbortSignal): { readonly ok: false; readonly failure: LlmFailure } => ({
    ok: false,
    failure: signal.aborted ? failures.aborted() : failures.thrown(error),
  });

  return {
    async chat(request: LlmRequest, onDelta, signal) {
      try {
        const url = urlOf('chat/completions');
        const { body, decode } = writer.write(request);
        const answer = await send({ method: 'POST', url, body }, signal);
        return { ok: true, reply: await readAnswer(answer, decode, onDelta, failures) };
      } catch (error) {
        return failed(error, signal);
      }
    },
    async models(signal) {
      try {
        const body = await send({ method: 'GET', url: urlOf('models') }, signal);
        const ids = modelIds(parsedJson(await readText(body, MAX_MODELS_BYTES)));
        if (ids === undefined) throw new CallFailure(failures.protocol('did not answer with a list of models'));
        return { ok: true, models: ids };
      } catch (error) {
        return failed(error, signal);
      }
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

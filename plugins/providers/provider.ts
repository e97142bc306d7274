/** A provider that can be called, as it stands in the registry. */
import { isDeepStrictEqual } from 'node:util';
import type { LlmFailure, OutgoingHttp, Provider, ProviderAdapter, ProviderSettings } from '../../kernel/index.ts';

/** Milliseconds until a connection stands, and until the first or the next piece of an answer. */
export interface Timeouts {
  readonly connectTimeoutMs: number;
  readonly readTimeoutMs: number;
}

/** What a provider calls through, and how long each kind of call may take. */
export interface ProviderParts {
  /** The adapter as it is now; it may be replaced while the server runs. */
  readonly adapter: () => ProviderAdapter | undefined;
  readonly http: OutgoingHttp;
  /** As they are now; a connection with others is made anew. */
  readonly chat: () => Timeouts;
  readonly models: () => Timeouts;
}

type Settings = Omit<ProviderSettings, keyof Timeouts>;

/** Connects with the first call; a connection lives as long as this object and its adapter. */
export function connectedProvider(settings: Settings, { adapter, http, chat, models }: ProviderParts): Provider {
  const connectionFor = (timeouts: () => Timeouts) => {
    let used: ProviderAdapter | undefined;
    let limits: Timeouts | undefined;
    let connection: ReturnType<ProviderAdapter['connect']> | undefined;
    return () => {
      const [current, present] = [adapter(), timeouts()];
      if (current !== used || !isDeepStrictEqual(present, limits)) connection = undefined;
      [used, limits] = [current, present];
      connection ??= current?.connect({ ...settings, ...present }, http);
      return connection ?? disabledProvider(settings.name, 'cannot be used: its adapter is not loaded');
    };
  };
  const forChat = connectionFor(chat);
  const forModels = connectionFor(models);
  return {
    name: settings.name,
    chat: (request, onDelta, signal) => forChat().chat(request, onDelta, signal),
    models: (signal) => forModels().models(signal),
  };
}

/** Fails every call; `reason` ends the sentence that names the provider. */
export function disabledProvider(name: string, reason: string): Provider {
  const failure: LlmFailure = { kind: 'missing', retryable: false, switchable: true, message: `Provider "${name}" ${reason}` };
  const failed = Promise.resolve({ ok: false, failure } as const);
  return { name, chat: () => failed, models: () => failed };
}

/** The real outgoing HTTP client, on a clock of the test's own. */
import type { Disposer, LlmRequest, Provider, ProviderSettings } from '../../../kernel/index.ts';
import { openaiAdapter } from '../../../adapters/provider/openai.ts';
import type { RegisteredHttp } from '../../../plugins/outside/contract.ts';
import { createRegisteredHttp } from '../../../plugins/outside/registered-http.ts';
import type { Lookup } from '../../../plugins/outside/registered-dialer.ts';
import { type FakeClock, fakeClock } from '../../harness/fake-clock.ts';

export interface Outgoing extends AsyncDisposable {
  readonly http: RegisteredHttp;
  readonly clock: FakeClock;
  readonly close: () => Promise<void>;
}

/** A client that nobody has used yet. */
export function outgoing(lookup?: Lookup): Outgoing {
  const clock = fakeClock();
  const undo: Disposer[] = [];
  const own = (_label: string, disposer: Disposer): Disposer => {
    undo.push(disposer);
    return disposer;
  };
  const http = createRegisteredHttp({ clock, own }, lookup);
  const close = async (): Promise<void> => {
    for (const disposer of undo) await disposer();
  };
  return { http, clock, close, [Symbol.asyncDispose]: close };
}

/** A connection of the openai adapter. */
export function connected(out: Outgoing, baseUrl: string, settings: Partial<ProviderSettings> = {}): Pick<Provider, 'chat' | 'models'> {
  const all = { name: 'p1', apiKey: 'sk-test-key-123456', baseUrl, connectTimeoutMs: 10_000, readTimeoutMs: 120_000, ...settings };
  return openaiAdapter.connect(all, out.http);
}

/** A request with one user message. */
export function ask(content: string, more: Partial<LlmRequest> = {}): LlmRequest {
  return { model: 'm1', system: 'You are a test.', messages: [{ role: 'user', content }], tools: [], agent: 'a1', ...more };
}

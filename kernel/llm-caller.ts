/** One model call: attempts until one succeeds or nobody names a next one. Each attempt is a step of its own. */
import type {
  LlmAttempt,
  LlmReply,
  LlmRequest,
  LlmResult,
  Message,
  NextAttempt,
  ProviderRef,
  StepResult,
  Steps,
  Turn,
} from './contract/index.ts';
import type { LoopHost } from './loop-host.ts';
import type { ReplyText } from './reply-text.ts';
import { OryxError } from './errors.ts';
import { SystemPrompt } from './prompt.ts';
import { declaredTools, ToolOffers } from './tool-set.ts';
import { repaired } from './transcript.ts';

/** More attempts than any chain of candidates needs; a hook that never gives up ends here. */
const MAX_ATTEMPTS = 16;

/** What the journal keeps of an attempt. `text` is what listeners were sent; missing where that is what the reply says. */
type AttemptRecord =
  | { readonly ok: true; readonly text?: string; readonly reply: LlmReply }
  | { readonly ok: false; readonly text: string; readonly message: string; readonly next: NextAttempt | null };

/** An answer and who gave it. */
export interface ModelAnswer {
  readonly provider: string;
  readonly reply: LlmReply;
}

/** Asks models on behalf of turns. */
export class LlmCaller {
  readonly #host: LoopHost;
  readonly #prompt: SystemPrompt;
  readonly #offers = new ToolOffers();

  constructor(host: LoopHost) {
    this.#host = host;
    this.#prompt = new SystemPrompt(host.registry('promptPart'));
  }

  /**
   * The model's next answer. Throws ORYX_PROVIDER_FAILED with a safe reason when every candidate failed, and the abort reason of the turn.
   *
   * @param call  number of the model call in the turn, from 1
   */
  async ask(turn: Turn, call: number, messages: readonly Message[], steps: Steps, text: ReplyText): Promise<ModelAnswer> {
    const { provider, model, temperature } = turn.agent;
    let target: NextAttempt = temperature === undefined ? { provider, model } : { provider, model, temperature };
    for (let attempt = 1; ; attempt += 1) {
      const record = await this.#attempt({ turn, call, attempt, target, messages, text }, steps);
      if (record.ok) return { provider: target.provider, reply: record.reply };
      turn.signal.throwIfAborted();
      if (record.next === null || attempt === MAX_ATTEMPTS) throw new OryxError('ORYX_PROVIDER_FAILED', record.message);
      target = record.next;
    }
  }

  async #attempt(ask: Ask, steps: Steps): Promise<AttemptRecord> {
    const { turn, call, attempt, target, text } = ask;
    const startedAt = this.#host.clock.now();
    let live = false;
    const record = await steps.step<AttemptRecord>(
      `llm/${call}/${attempt}`,
      { idempotent: true, lost: () => this.#lost(ask, startedAt) },
      async (_key, begin) => {
        live = true;
        if (target.delayMs !== undefined) await delay(this.#host, target.delayMs, turn.signal);
        return this.#askOnce(ask, begin);
      },
    );
    if (!live) text.add(record.text ?? (record.ok ? record.reply.content : ''));
    return record;
  }

  async #askOnce({ turn, call, attempt, target, messages, text }: Ask, begin: () => Promise<void>): Promise<StepResult<AttemptRecord>> {
    const { hooks, clock } = this.#host;
    const refused = await hooks.beforeLlmCall(target, turn);
    const request = await this.#request(turn, target, messages);
    if (!refused) await begin();
    const startedAt = clock.now();
    const since = clock.monotonic();
    const sent: string[] = [];
    const say = (delta: string): void => {
      if (delta === '') return;
      sent.push(delta);
      text.add(delta);
    };
    const result: LlmResult = refused ? { ok: false, failure: refused } : await this.#chat(target, request, turn.signal, say);
    const ended = {
      call,
      attempt,
      provider: target.provider,
      model: target.model,
      contentSent: sent.length > 0,
      startedAt,
      durationMs: clock.monotonic() - since,
    };
    if (result.ok) {
      const rows = await hooks.afterLlmCall([], { ...ended, outcome: 'success', reply: result.reply }, turn);
      const { reply } = result;
      if (!isMadeOf(reply.content, sent)) return { value: { ok: true, text: sent.join(''), reply }, rows };
      text.settle(reply.content);
      return { value: { ok: true, reply }, rows };
    }
    const failed: LlmAttempt = { ...ended, outcome: 'failed', failure: result.failure };
    const rows = await hooks.afterLlmCall([], failed, turn);
    const final = failed.contentSent || turn.signal.aborted;
    const next = final ? undefined : await hooks.onLlmFailure(failed, turn);
    this.#host.log.warn('model call failed', {
      provider: target.provider,
      model: target.model,
      reason: result.failure.message,
      ...(next && { next: `${next.provider}/${next.model}`, delayMs: next.delayMs ?? 0 }),
    });
    return { value: { ok: false, text: sent.join(''), message: result.failure.message, next: next ?? null }, rows };
  }

  async #request(turn: Turn, target: ProviderRef, messages: readonly Message[]): Promise<LlmRequest> {
    const registry = this.#host.registry('tool');
    const offered = await this.#host.hooks.selectTools(declaredTools(turn.agent, registry), turn);
    const canReadMore = offered.some((tool) => tool.name === 'read_result');
    return {
      agent: turn.agent.name,
      model: target.model,
      system: await this.#prompt.render(turn),
      messages: repaired(messages, canReadMore),
      tools: this.#offers.schemasOf(offered, registry.version),
      ...(target.temperature !== undefined && { temperature: target.temperature }),
    };
  }

  async #chat(target: ProviderRef, request: LlmRequest, signal: AbortSignal, onDelta: (text: string) => void): Promise<LlmResult> {
    const label = `model call ${target.provider}/${target.model}`;
    const result = await this.#host.registry('provider').use(target.provider, label, (provider) => provider.chat(request, onDelta, signal));
    return result ?? missingProvider(target.provider);
  }

  /** An attempt that a crash cut off is accounted for before the model is asked again. */
  async #lost({ turn, call, attempt, target }: Ask, startedAt: number): Promise<StepResult<AttemptRecord>> {
    const message = 'interrupted by a restart';
    const rows = await this.#host.hooks.afterLlmCall(
      [],
      {
        call,
        attempt,
        provider: target.provider,
        model: target.model,
        outcome: 'interrupted',
        contentSent: false,
        startedAt,
        durationMs: 0,
      },
      turn,
    );
    return { value: { ok: false, text: '', message, next: null }, rows };
  }
}

interface Ask {
  readonly turn: Turn;
  readonly call: number;
  readonly attempt: number;
  readonly target: NextAttempt;
  readonly messages: readonly Message[];
  readonly text: ReplyText;
}

function missingProvider(name: string): LlmResult {
  const message = `provider "${name}" does not exist; add it with POST /api/v1/providers or name another one in the agent's front matter`;
  return { ok: false, failure: { kind: 'missing', retryable: false, switchable: true, message } };
}

/** Whether the pieces, one after another, are the text. Joining them would copy a long text. */
function isMadeOf(text: string, pieces: readonly string[]): boolean {
  let length = 0;
  for (const piece of pieces) {
    if (!text.startsWith(piece, length)) return false;
    length += piece.length;
  }
  return length === text.length;
}

/** Waits, or rejects with the signal's reason. */
function delay(host: LoopHost, delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      cancel();
      reject(signal.reason);
    };
    const cancel = host.clock.after(delayMs, () => {
      signal.removeEventListener('abort', abort);
      resolve();
    });
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
  });
}

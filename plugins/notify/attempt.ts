/** One request to a receiver, with a limit of time. */
import type {
  Clock,
  Logger,
  NotifyAdapter,
  NotifyMessage,
  NotifyOutcome,
  NotifyTarget,
  OutgoingHttp,
  ReadonlyRegistry,
} from '../../kernel/index.ts';
import { messageOf, OryxError } from '../../kernel/index.ts';

const DEADLINE_MS = 30_000;
/** How long an aborted adapter may take to say what it knows. */
const GRACE_MS = 1_000;

/** What attempts are made with. */
export interface AttemptParts {
  readonly adapters: ReadonlyRegistry<NotifyAdapter>;
  readonly http: OutgoingHttp;
  readonly clock: Clock;
  readonly log: Logger;
  /** Aborts when attempts under way must end. */
  readonly stop: AbortSignal;
}

/**
 * Has the adapter send once; its plugin stays in place meanwhile. What throws, answers nonsense, or is not over after 30 s, or when `stop` aborts,
 * counts as `unknown`. Never rejects.
 */
export async function attempt(parts: AttemptParts, type: string, message: NotifyMessage, target: NotifyTarget): Promise<NotifyOutcome> {
  const { adapters, http, clock, stop } = parts;
  const abort = new AbortController();
  const limit = limited(clock, abort, stop);
  try {
    // Checked inside: an adapter that returns nothing has sent something, and one that is gone has not.
    const send = async (adapter: NotifyAdapter): Promise<NotifyOutcome> =>
      checked(type, await adapter.send(message, target, http, abort.signal));
    const sending = adapters.use(type, `notify channel ${target.channel}`, send).then(
      (outcome) => outcome ?? gone(type),
      (error: unknown) => thrown(parts, type, target, error),
    );
    return await Promise.race([sending, limit.over]);
  } finally {
    limit.release();
  }
}

interface Limit {
  readonly over: Promise<NotifyOutcome>;
  release(): void;
}

function limited(clock: Clock, abort: AbortController, stop: AbortSignal): Limit {
  const timers: (() => void)[] = [];
  let giveUp: (outcome: NotifyOutcome) => void = () => undefined;
  const over = new Promise<NotifyOutcome>((resolve) => {
    giveUp = resolve;
  });
  const end = (message: string): void => {
    timers.push(clock.after(GRACE_MS, () => giveUp(unknown(message))));
    abort.abort(new OryxError('ORYX_CANCELLED', message));
  };
  const onStop = (): void => end('the server stopped while the message was being sent');
  timers.push(clock.after(DEADLINE_MS, () => end(`the receiver did not answer within ${DEADLINE_MS / 1000} s`)));
  if (stop.aborted) onStop();
  stop.addEventListener('abort', onStop, { once: true });
  return {
    over,
    release() {
      stop.removeEventListener('abort', onStop);
      for (const cancel of timers) cancel();
    },
  };
}

/** What an adapter throws may hold the URL: neither the message's reason nor the log shows it. */
function thrown({ log }: AttemptParts, type: string, { channel, url }: NotifyTarget, error: unknown): NotifyOutcome {
  const said = messageOf(error)
    .replaceAll(url, '(URL)')
    .replaceAll(/\b[a-z][a-z0-9+.-]{0,30}:\/\/\S+/gi, '(URL)');
  log.error('a notify adapter threw instead of returning an outcome', { channel, type, said: said.slice(0, 500) });
  return unknown(`the adapter "${type}" failed while it was sending`);
}

/** Untyped plugins can return anything. */
function checked(type: string, outcome: NotifyOutcome): NotifyOutcome {
  const { ok, kind, message, code } = (outcome ?? {}) as { readonly [key in 'ok' | 'kind' | 'message' | 'code']?: unknown };
  if (ok === true) return outcome;
  const isFailure = ok === false && typeof message === 'string' && ['refused', 'later', 'unknown'].includes(String(kind));
  const isWhole = isFailure && (code === undefined || typeof code === 'string' || typeof code === 'number');
  if (!isWhole || outcome.ok) return unknown(`the adapter "${type}" returned something that is not an outcome`);
  return typeof code === 'number' ? { ...outcome, code: String(code) } : outcome;
}

const unknown = (message: string): NotifyOutcome => ({ ok: false, kind: 'unknown', message });
const gone = (type: string): NotifyOutcome => ({
  ok: false,
  kind: 'later',
  message: `nothing that is loaded speaks to channels of type "${type}"`,
});

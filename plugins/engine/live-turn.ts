/** A turn that this process has accepted or taken up and that has not ended yet. */
import type { TurnOutcome, TurnRequest, TurnSummary } from '../../kernel/index.ts';

/** Ends exactly once, by `end` or `abandon`; the later of the two does nothing. A rejection that nobody waits for is no unhandled one. */
export class LiveTurn {
  readonly request: TurnRequest;
  readonly acceptedAt: number;
  /** Aborts on cancel, deadline and suspension. */
  readonly abort = new AbortController();
  /** Rejects with ORYX_STOPPING when the turn is suspended. */
  readonly ended: Promise<TurnOutcome>;
  step = 'queued';
  #settle: { readonly resolve: (outcome: TurnOutcome) => void; readonly reject: (error: Error) => void };

  constructor(request: TurnRequest, acceptedAt: number) {
    this.request = request;
    this.acceptedAt = acceptedAt;
    const { promise, settle } = settled();
    this.ended = promise;
    this.#settle = settle;
  }

  end(outcome: TurnOutcome): void {
    this.#settle.resolve(outcome);
  }

  /** Ends the wait of everybody who waits for the outcome; the turn itself goes on elsewhere or never began. */
  abandon(reason: Error): void {
    this.#settle.reject(reason);
  }

  summary(): TurnSummary {
    const { id, profile, sessionId, origin } = this.request;
    return { traceId: id, agentName: profile, sessionId, origin, startedAt: this.acceptedAt, step: this.step };
  }
}

function settled(): {
  readonly promise: Promise<TurnOutcome>;
  readonly settle: { readonly resolve: (outcome: TurnOutcome) => void; readonly reject: (error: Error) => void };
} {
  let resolve: (outcome: TurnOutcome) => void = () => undefined;
  let reject: (error: Error) => void = () => undefined;
  const promise = new Promise<TurnOutcome>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  // Nobody may be waiting when a turn is suspended; those who wait get the rejection all the same.
  promise.catch(() => undefined);
  return { promise, settle: { resolve, reject } };
}

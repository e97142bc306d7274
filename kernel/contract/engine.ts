/** The engine port and what it needs from others. */
import type { Message, Origin, Profile, TurnEvent, TurnOutcome, TurnRequest } from './turn.ts';
import type { Disposer } from './plugin.ts';
import type { Statement } from './store.ts';

/** A run in progress. */
export interface TurnSummary {
  readonly traceId: string;
  readonly agentName: string;
  readonly sessionId: string;
  readonly origin: Origin;
  /** Epoch milliseconds of acceptance. */
  readonly startedAt: number;
  /** Name of the step under way, or "queued". */
  readonly step: string;
}

/** Accepts turns durably and drives them. One turn at a time per session, in order of acceptance. */
export interface Engine {
  /**
   * Resolves when the turn is durable. An id that is known already is not accepted twice and is no error.
   * Rejects with ORYX_SESSION_BUSY when 100 turns of the session wait, and as `Store.write` does.
   *
   * @param rows  statements of the caller that commit together with the acceptance
   */
  submit(request: TurnRequest, rows?: readonly Statement[]): Promise<void>;
  /** Resolves when the turn has ended; at once for one that ended earlier. Rejects with ORYX_TURN_UNKNOWN, or with the signal's reason. */
  outcome(turnId: string, signal?: AbortSignal): Promise<TurnOutcome>;
  /** Listens to a turn, also before it is submitted. A late listener first gets `trace` and all text so far as one token. */
  watch(turnId: string, onEvent: (event: TurnEvent) => void): Disposer;
  /** Stops a turn: it ends `failed` with ORYX_CANCELLED. Resolves when it has ended. Rejects with ORYX_TURN_UNKNOWN unless it is in progress. */
  cancel(turnId: string): Promise<void>;
  active(): readonly TurnSummary[];
  /** Takes up the turns that an earlier process left unfinished. Called once, when everything is loaded. */
  resume(): Promise<void>;
  /** Accepts nothing more, lets running turns finish for that long, then suspends them: they go on at the next start. Waiters get ORYX_STOPPING. */
  drain(timeoutMs: number): Promise<void>;
}

/** Finds agents by version, also versions that are no longer on disk. */
export interface Profiles {
  /** The version that is live now. */
  current(name: string): Profile | undefined;
  /** A version that some run started with; undefined when its text is not stored. */
  at(name: string, version: string): Promise<Profile | undefined>;
}

/** What was said in a session. Statements are built here and committed by the engine together with its own. */
export interface History {
  /** The last `maxTurns - 1` whole turns before this one, oldest first; empty for a turn that is not persistent. */
  before(request: TurnRequest, maxTurns: number): Promise<readonly Message[]>;
  /** Statements that add the user message at acceptance. Empty for a turn that is not persistent. */
  accepted(request: TurnRequest, at: number): readonly Statement[];
  /** Statements that add everything after the user message when the turn has ended. Empty for a turn that is not persistent. */
  ended(request: TurnRequest, messages: readonly Message[], at: number): readonly Statement[];
}

/** One turn: what goes in, what comes out, and the loop's one door to the outside. */
import type { OryxError } from '../errors.ts';
import type { Statement } from './store.ts';

/** Where a turn came from. */
export type Origin = 'session' | 'console' | 'invoke' | 'trigger' | 'schedule' | 'cli' | 'channel';

/** A call as the model asked for it; `argumentsJson` is its text, parsed only by the executor. */
export interface ToolCallRequest {
  readonly id: string;
  readonly name: string;
  readonly argumentsJson: string;
}

/** One message of a conversation, as it is stored and sent to models. */
export type Message = UserMessage | AssistantMessage | ToolMessage;

/** What a person, a schedule or another system said. */
export interface UserMessage {
  readonly role: 'user';
  readonly content: string;
}

/** What the model said, and which calls it asked for, in its order; `content` is "" when it only calls. */
export interface AssistantMessage {
  readonly role: 'assistant';
  readonly content: string;
  readonly toolCalls: readonly ToolCallRequest[];
  /** What the provider that said it needs back; sent to that provider only. */
  readonly echo?: { readonly provider: string; readonly fields: Readonly<Record<string, unknown>> };
}

/** What the model reads of a call. `toolCallId` is the id of the request in an assistant message before it. */
export interface ToolMessage {
  readonly role: 'tool';
  readonly content: string;
  readonly toolName: string;
  readonly toolCallId: string;
}

/** An agent as the kernel knows it: one immutable version. Plugins read their own sections of `frontmatter`. */
export interface Profile {
  readonly name: string;
  readonly description: string;
  /** The body of AGENT.md. */
  readonly instructions: string;
  readonly provider: string;
  readonly model: string;
  readonly temperature?: number;
  /** Exact tool names or "<source>:*", without duplicates, in the order that the model sees. */
  readonly tools: readonly string[];
  /** When given, tools that carry a `source` count only if it is named here. */
  readonly toolSources?: readonly string[];
  readonly settings: TurnSettings;
  /** Content hash of the text that this was derived from. */
  readonly version: string;
  readonly frontmatter: Readonly<Record<string, unknown>>;
}

/** Limits of one turn, from the front matter; every value has been checked. */
export interface TurnSettings {
  readonly maxIterations: number;
  readonly maxHistoryTurns: number;
  /** Bounds running time, not the wait in the queue; starts again on a resume. */
  readonly timeoutMs: number;
  readonly onFatalToolError: 'return' | 'feedback';
}

/** A request to run an agent once. */
export interface TurnRequest {
  /** A UUID, = traceId. The same id twice is the same turn. */
  readonly id: string;
  readonly profile: string;
  readonly sessionId: string;
  readonly origin: Origin;
  readonly input: string;
  /** false: nothing is added to a session's history (stateless invoke). */
  readonly persistent: boolean;
}

/** A turn that is running, as hooks, tools and prompt parts see it. */
export interface Turn extends TurnRequest {
  readonly agent: Profile;
  /** 1, or more after a crash: how often it has been started. */
  readonly attempt: number;
  /** Aborts on cancel, deadline and shutdown. */
  readonly signal: AbortSignal;
}

/** What a listener hears. `trace` is always first. */
export type TurnEvent =
  | { readonly type: 'trace'; readonly traceId: string }
  | { readonly type: 'token'; readonly delta: string }
  | { readonly type: 'tool_start'; readonly name: string }
  | { readonly type: 'tool_end'; readonly name: string; readonly success: boolean };

/**
 * Why a run stopped. `completed`: the model had nothing left to call. `loop`: it repeated one call with one result. `error`: the outcome
 * carries the error.
 */
export type StopReason = 'completed' | 'max_iterations' | 'loop' | 'error';

/** How a turn ended. `reply` is all text of the run, segments joined by a blank line, also when it failed. */
export interface TurnOutcome {
  readonly turnId: string;
  readonly status: 'completed' | 'failed' | 'interrupted';
  readonly reply: string;
  readonly stopReason: StopReason;
  /** Everything after the user message, in order; empty when the outcome was read back later. */
  readonly messages: readonly Message[];
  /** Present exactly when `status` is not `completed`. */
  readonly error?: OryxError;
}

/** Runs agents. Provided by the kernel on top of the service `engine`. */
export interface Turns {
  /**
   * Accepts the turn durably and resolves with its end; a failed turn is an outcome, not a rejection.
   * Rejects, before anything is accepted, with ORYX_SESSION_BUSY (100 wait) or ORYX_STORE_UNAVAILABLE.
   *
   * @param rows  statements of the caller that commit together with the acceptance
   */
  run(request: TurnRequest, onEvent?: (event: TurnEvent) => void, rows?: readonly Statement[]): Promise<TurnOutcome>;
  /**
   * Asks `onSchedule` first; a skip is returned, not run.
   *
   * @param turnId  the run's id, for a caller that has written it down already
   * @param rows  as for `run`
   */
  fire(firing: ScheduleFiring, turnId?: string, rows?: readonly Statement[]): Promise<TurnOutcome | Skip>;
}

/** A schedule's slot that is due. */
export interface ScheduleFiring {
  readonly scheduleId: string;
  readonly profile: string;
  readonly message: string;
  /** Epoch milliseconds. */
  readonly firedAt: number;
}

/** A schedule is not run now; `skip` says why, for people. */
export interface Skip {
  readonly skip: string;
}

/** What a step hands over: its value, which must survive JSON, and rows that describe it and commit with it. */
export interface StepResult<T> {
  readonly value: T;
  readonly rows?: readonly Statement[];
}

/** What the journal needs to know of a step in case a crash breaks it off. */
export interface StepOptions<T> {
  /** May it run again when its outcome is unknown? */
  readonly idempotent: boolean;
  /**
   * Called instead of guessing, when a crash came after `begin()` and before the result was durable.
   * Idempotent: only `rows` count, they record the lost attempt, and the step runs again. Otherwise: this becomes the step's result.
   */
  lost(): Promise<StepResult<T>>;
}

/** The loop's one door to the outside: what a step returned is durable before the next line of the loop runs. */
export interface Steps {
  /**
   * Runs `fn` once in the life of the turn and answers from the journal ever after. `fn` must not throw for failures that the
   * loop handles: a failure is a value, so that its rows are kept. `begin()` makes "started" durable; it is awaited right before
   * an effect that must not be repeated or must be accounted for.
   *
   * @param fn  gets the step's idempotency key, stable over restarts, and `begin`
   */
  step<T>(name: string, options: StepOptions<T>, fn: (key: string, begin: () => Promise<void>) => Promise<StepResult<T>>): Promise<T>;
}

/** The ReAct loop as a function. Provided by the kernel, called by the engine only. */
export interface TurnLoop {
  /**
   * Deterministic between steps. Never rejects but with what `steps` throws (the engine's own suspension).
   *
   * @param emit  gets each event, and a function that gives all text of the run so far
   */
  run(turn: Turn, history: readonly Message[], steps: Steps, emit: (event: TurnEvent, said: () => string) => void): Promise<TurnOutcome>;
}

/** One part of the system prompt. Lower `order` comes first; static parts before changing ones, for the providers' prefix caches. */
export interface PromptPart {
  readonly name: string;
  readonly order: number;
  /** Text, or undefined for nothing. A part that throws ends the turn. */
  render(turn: Turn): string | undefined | Promise<string | undefined>;
}

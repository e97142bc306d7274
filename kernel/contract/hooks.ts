/** The ten hooks, in four kinds. */
import type { Claim, Refusal, Tool, ToolCall, ToolCallRecord, ToolResult } from './tool.ts';
import type { LlmFailure, LlmReply, NextAttempt, ProviderRef } from './provider.ts';
import type { ScheduleFiring, Skip, Turn, TurnOutcome } from './turn.ts';
import type { Statement } from './store.ts';

/** Told what happened; a tap that throws is logged and skipped. */
export type Observe<A extends readonly unknown[]> = (...args: A) => void | Promise<void>;
/** Asked until one answers; a tap that throws gives the hook's closed answer. `null` counts as no answer. */
export type Decide<A extends readonly unknown[], R> = (...args: A) => R | undefined | Promise<R | undefined>;
/** Gets the value of the tap before it; a tap that throws ends the turn. */
export type Transform<T, A extends readonly unknown[]> = (value: T, ...args: A) => T | Promise<T>;
/** Adds rows that commit with the step; a tap that throws is skipped, unless it was tapped as `required`: then the step fails. */
export type Collect<A extends readonly unknown[]> = (
  rows: readonly Statement[],
  ...args: A
) => readonly Statement[] | Promise<readonly Statement[]>;

/** One attempt at a model call, as it ended. */
export interface LlmAttempt {
  /** Number of the model call in the turn, from 1. */
  readonly call: number;
  /** Number of the attempt at this call, from 1. */
  readonly attempt: number;
  readonly provider: string;
  readonly model: string;
  readonly outcome: 'success' | 'failed' | 'interrupted';
  readonly reply?: LlmReply;
  readonly failure?: LlmFailure;
  /** Text of this attempt was sent to listeners already: neither retry nor switch. */
  readonly contentSent: boolean;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  readonly durationMs: number;
}

/**
 * Every hook with what a plugin taps it with. Its kind says what an answer does and what becomes of a tap that throws or takes longer than
 * 5 s.
 */
export interface Hooks {
  beforeTurn: Observe<[turn: Turn]>;
  afterTurn: Observe<[turn: Turn, outcome: TurnOutcome]>;
  /** Only ever shortens the list. */
  selectTools: Transform<readonly Tool[], [turn: Turn]>;
  /** An answer stands for the model's: it is not asked, and the attempt has failed that way. */
  beforeLlmCall: Decide<[target: ProviderRef, turn: Turn], LlmFailure>;
  onLlmFailure: Decide<[attempt: LlmAttempt, turn: Turn], NextAttempt>;
  afterLlmCall: Collect<[attempt: LlmAttempt, turn: Turn]>;
  beforeToolCall: Decide<[call: ToolCall], Refusal>;
  onClaim: Decide<[claim: Claim, call: ToolCall], Refusal>;
  afterToolCall: Collect<[call: ToolCallRecord, result: ToolResult, durationMs: number]>;
  onSchedule: Decide<[firing: ScheduleFiring], Skip>;
}

/** The name of a hook. */
export type HookName = keyof Hooks & string;

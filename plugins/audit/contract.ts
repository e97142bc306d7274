/** The record of model calls and tool calls, for other plugins. */
import type { LlmAttempt, Statement } from '../../kernel/index.ts';

/** On whose behalf something was done. */
export interface AuditSubject {
  readonly sessionId: string;
  readonly agentName: string;
  /** Id of the run; null for what belongs to none. */
  readonly traceId: string | null;
}

/** What both kinds of steps have. Everything is as it was recorded, secrets included: mask it before anybody sees it. */
interface AuditStep {
  /** Place in the run by the order in which steps ended, from 1, without gaps as long as nothing was pruned. */
  readonly seq: number;
  readonly success: boolean;
  readonly errorMessage: string | null;
  readonly durationMs: number;
  /** Epoch milliseconds of the end of the step. */
  readonly at: number;
}

/** One attempt at a model call. Numbers that the provider did not report are null. */
export interface AuditedLlmCall extends AuditStep {
  readonly type: 'LLM';
  readonly provider: string;
  readonly model: string;
  /** Number of the model call in the run, from 1; null for a row of an older build. */
  readonly call: number | null;
  /** Number of the attempt at this call, from 1; null for a row of an older build. */
  readonly attempt: number | null;
  readonly outcome: LlmAttempt['outcome'];
  readonly promptTokens: number | null;
  readonly completionTokens: number | null;
  readonly totalTokens: number | null;
  /** Millionths of the currency unit; null when no price is known. */
  readonly costMicros: number | null;
}

/** One tool call, refused ones too. Long values are cut, see the README. */
export interface AuditedToolCall extends AuditStep {
  readonly type: 'TOOL';
  readonly toolName: string;
  readonly input: string | null;
  readonly result: string | null;
  readonly blockedBy: string | null;
}

/** What was recorded, and a way to record more. */
export interface Audit {
  /** Every recorded step of a run, by time and then by `seq`; empty for an unknown run. Rejects as `Store.all` does. */
  trace(traceId: string): Promise<readonly (AuditedLlmCall | AuditedToolCall)[]>;
  /** The row of a model call that is made outside of runs; its caller commits it. Calls of runs are recorded without it. */
  llmCall(attempt: LlmAttempt, subject: AuditSubject): Statement;
}

declare module '../../kernel/index.ts' {
  interface Services {
    audit: Audit;
  }
}

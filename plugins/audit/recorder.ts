import type { Clock, LlmAttempt, Statement, ToolCallRecord, ToolResult, Turn } from '../../kernel/index.ts';
import { cappedText, NO_TEXT } from './capped-text.ts';
import type { AuditSubject } from './contract.ts';
import { llmCallInserted } from './llm-call-repository.ts';
import { toolInvocationInserted } from './tool-invocation-repository.ts';

/** Names come from models and may be of any length. */
const MAX_NAME_LENGTH = 255;

/** Turns what happened into rows. */
export interface Recorder {
  llmCall(attempt: LlmAttempt, subject: AuditSubject): Statement;
  toolCall(call: ToolCallRecord, result: ToolResult, durationMs: number): Promise<Statement>;
}

/**
 * Texts are recorded as they are: whoever shows them masks them.
 *
 * @param costMicros  what an attempt cost, by the prices of this moment; null when that is not known
 */
export function recorder(clock: Clock, costMicros: (attempt: LlmAttempt) => number | null): Recorder {
  return {
    llmCall: (attempt, subject) => llmCallInserted(attempt, subject, clock.now(), costMicros(attempt)),
    async toolCall({ id, toolName, argumentsJson, turn }, result, durationMs) {
      const input = await cappedText(argumentsJson);
      const output = await cappedText(result.success ? result.content : result.errorMessage);
      const invocation = {
        callId: id.slice(0, MAX_NAME_LENGTH),
        toolName: toolName.slice(0, MAX_NAME_LENGTH),
        success: result.success,
        blockedBy: result.success ? null : (result.blockedBy ?? null),
        durationMs,
        input,
        result: result.success ? output : NO_TEXT,
        error: result.success ? NO_TEXT : output,
      };
      return toolInvocationInserted(invocation, subjectOf(turn), clock.now());
    },
  };
}

/** The run that a step belongs to. */
export const subjectOf = ({ id, sessionId, agent }: Turn): AuditSubject => ({ sessionId, agentName: agent.name, traceId: id });

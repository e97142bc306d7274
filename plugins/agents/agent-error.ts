/** AgentError as text and as something to throw. */
import { OryxError } from '../../kernel/index.ts';
import { agentFileOf } from './agent-name.ts';
import type { AgentError, TextPosition } from './contract.ts';

/** What is wrong with the AGENT.md of `name`. */
export function agentError(name: string, message: string, position?: TextPosition): AgentError {
  return { message, file: agentFileOf(name), line: position?.line ?? null, column: position?.column ?? null };
}

/** One line: `agents/ops/AGENT.md:4:3: provider.name is missing`. */
export function describeAgentError({ file, line, column, message }: AgentError): string {
  return `${[file, line, column].filter((part) => part !== null).join(':')}: ${message}`;
}

/** The refusal of an invalid AGENT.md that came over the API: 400 with file, line and column in the message. */
export function invalidAgent(error: AgentError): OryxError {
  return new OryxError('ORYX_INVALID_AGENT', describeAgentError(error));
}

import type { AssistantMessage, Message, ToolCallRequest } from '../../kernel/index.ts';
import type { MessageView } from './contract.ts';

/** A message as the table `messages` holds it. */
export interface MessageRow {
  readonly role: Message['role'];
  readonly content: string;
  readonly tool_name: string | null;
  readonly tool_call_id: string | null;
  readonly tool_calls_json: string | null;
  readonly echo_json: string | null;
}

/** The columns of a message; the inverse of `messageOfRow`. */
export function rowOfMessage(message: Message): MessageRow {
  const plain = {
    role: message.role,
    content: message.content,
    tool_name: null,
    tool_call_id: null,
    tool_calls_json: null,
    echo_json: null,
  };
  if (message.role === 'user') return plain;
  if (message.role === 'tool') return { ...plain, tool_name: message.toolName, tool_call_id: message.toolCallId };
  return {
    ...plain,
    tool_calls_json: message.toolCalls.length === 0 ? null : JSON.stringify(message.toolCalls),
    echo_json: message.echo === undefined ? null : JSON.stringify(message.echo),
  };
}

/** The message as the loop and the model see it. */
export function messageOfRow(row: MessageRow): Message {
  if (row.role === 'user') return { role: 'user', content: row.content };
  if (row.role === 'tool') {
    return { role: 'tool', content: row.content, toolName: row.tool_name ?? '', toolCallId: row.tool_call_id ?? '' };
  }
  const message = { role: 'assistant', content: row.content, toolCalls: toolCallsOf(row) } as const;
  if (row.echo_json === null) return message;
  return { ...message, echo: JSON.parse(row.echo_json) as NonNullable<AssistantMessage['echo']> };
}

/** The message as the API shows it: absent things are null, `toolCalls` is always a list. */
export function viewOfRow(row: MessageRow): MessageView {
  return {
    role: row.role,
    content: row.content,
    toolName: row.tool_name,
    toolCallId: row.tool_call_id,
    toolCalls: toolCallsOf(row).map(({ id, name, argumentsJson }) => ({ id, name, argumentsJson })),
  };
}

const toolCallsOf = (row: MessageRow): readonly ToolCallRequest[] =>
  row.tool_calls_json === null ? [] : (JSON.parse(row.tool_calls_json) as ToolCallRequest[]);

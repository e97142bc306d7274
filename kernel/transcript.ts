/** What of a conversation is sent to the model. */
import type { AssistantMessage, Message, ToolMessage } from './contract/index.ts';

/** How much of one tool result the model sees, in characters. */
export const MAX_RESULT_CHARS = 32 * 1024;

/** What the model reads of a tool result. */
export function resultText(
  result: { readonly success: true; readonly content: string } | { readonly success: false; readonly errorMessage: string },
): string {
  return result.success ? result.content : `Tool failed: ${result.errorMessage}`;
}

/** The whole text of the result with that id, undefined when there is none. */
export function resultIn(messages: readonly Message[], toolCallId: string): string | undefined {
  return messages.findLast((message) => message.role === 'tool' && message.toolCallId === toolCallId)?.content;
}

/** The ids of all calls. */
export const callIdsIn = (messages: readonly Message[]): readonly string[] =>
  messages.flatMap((message) => (message.role === 'assistant' ? message.toolCalls.map(({ id }) => id) : []));

/**
 * Makes a transcript that every provider accepts: each call is followed by exactly one result, no result stands without its call.
 * A call whose result is missing gets one that says so; long results keep head and tail.
 *
 * @param canReadMore  whether the agent can page through a cut result by its id
 */
export function repaired(messages: readonly Message[], canReadMore: boolean): readonly Message[] {
  const sent: Message[] = [];
  for (let index = 0; index < messages.length; index += 1) {
    const message = messages[index];
    if (message === undefined || message.role === 'tool') continue;
    sent.push(message);
    if (message.role !== 'assistant' || message.toolCalls.length === 0) continue;
    const results = resultsAfter(messages, index);
    for (const call of message.toolCalls) sent.push(clipped(results.get(call.id) ?? missingResult(message, call.id), canReadMore));
  }
  return sent;
}

function resultsAfter(messages: readonly Message[], index: number): ReadonlyMap<string, ToolMessage> {
  const results = new Map<string, ToolMessage>();
  for (let next = index + 1; next < messages.length; next += 1) {
    const message = messages[next];
    if (message?.role !== 'tool') break;
    if (!results.has(message.toolCallId)) results.set(message.toolCallId, message);
  }
  return results;
}

function missingResult(message: AssistantMessage, toolCallId: string): ToolMessage {
  const toolName = message.toolCalls.find((call) => call.id === toolCallId)?.name ?? '';
  return { role: 'tool', toolName, toolCallId, content: 'Tool failed: not executed, the run ended before this call' };
}

function clipped(message: ToolMessage, canReadMore: boolean): ToolMessage {
  const { content } = message;
  if (content.length <= MAX_RESULT_CHARS) return message;
  const half = MAX_RESULT_CHARS / 2;
  const cut = content.length - MAX_RESULT_CHARS;
  const advice = canReadMore ? `; read_result with id "${message.toolCallId}" and an offset shows the rest` : '';
  return { ...message, content: `${headOf(content, half)}\n[... ${cut} characters left out${advice} ...]\n${tailOf(content, half)}` };
}

/** Cuts without splitting a surrogate pair. */
function headOf(text: string, length: number): string {
  const last = text.charCodeAt(length - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length);
}

function tailOf(text: string, length: number): string {
  const start = text.length - length;
  const first = text.charCodeAt(start);
  return text.slice(first >= 0xdc00 && first <= 0xdfff ? start + 1 : start);
}

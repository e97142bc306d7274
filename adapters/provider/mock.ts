/** The built-in model: no key, no network, the same answer to the same question. */
import { setImmediate as nextTick } from 'node:timers/promises';
import type { LlmReply, LlmRequest, Message, ProviderAdapter, ToolSchema } from '../../kernel/index.ts';
import { isObject } from './json.ts';
import { NO_USAGE } from './usage.ts';

const MAX_QUOTED_CHARS = 200;
const ASKS_TO_REMEMBER = /\bremember\b|记住/i;

type Answer = Pick<LlmReply, 'content' | 'toolCalls'>;

/**
 * A model for trying things out and for tests. It saves what it is asked to remember when `save_memory` is offered, reports what a tool
 * said, and otherwise quotes the question. Text comes word by word.
 */
export const mockAdapter: ProviderAdapter = {
  name: 'mock',
  connect: ({ name }) => ({
    async chat(request, onDelta, signal) {
      const { content, toolCalls } = answerTo(request);
      for (const word of content.split(/(?<=\s)(?=\S)/)) {
        await nextTick();
        if (signal.aborted) {
          const message = `Call to provider "${name}" was cancelled`;
          return { ok: false, failure: { kind: 'aborted', retryable: false, switchable: false, message } };
        }
        if (word !== '') onDelta(word);
      }
      const finishReason = toolCalls.length > 0 ? 'tool_calls' : 'stop';
      return { ok: true, reply: { content, toolCalls, finishReason, usage: NO_USAGE } };
    },
    models: () => Promise.resolve({ ok: true, models: ['mock'] }),
  }),
};

function answerTo({ messages, tools, agent }: LlmRequest): Answer {
  const last = messages.at(-1);
  if (last?.role === 'tool') return { content: reportOf(messages), toolCalls: [] };
  const question = last?.role === 'user' ? last.content : '';
  const memory = tools.find((tool) => tool.name === 'save_memory');
  if (memory && ASKS_TO_REMEMBER.test(question)) return { content: '', toolCalls: [saveCall(memory, question, messages.length)] };
  return { content: `This is the built-in mock model, speaking for agent "${agent}". You said: "${quoted(question)}"`, toolCalls: [] };
}

function saveCall(memory: ToolSchema, content: string, place: number): Answer['toolCalls'][number] {
  const properties = memory.parameters['properties'];
  const takesScope = isObject(properties) && 'scope' in properties;
  const argumentsJson = JSON.stringify({ content, ...(takesScope && { scope: 'archival' }) });
  return { id: `mock-call-${place}`, name: memory.name, argumentsJson };
}

function reportOf(messages: readonly Message[]): string {
  const first = messages.findLastIndex((message) => message.role !== 'tool') + 1;
  return messages
    .slice(first)
    .map((message) => (message.role === 'tool' ? `The tool ${message.toolName} answered: ${quoted(message.content)}` : ''))
    .join('\n');
}

/** One line, never cut between the halves of a surrogate pair. */
function quoted(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length <= MAX_QUOTED_CHARS ? line : `${line.slice(0, MAX_QUOTED_CHARS).replace(/[\ud800-\udbff]$/, '')}…`;
}

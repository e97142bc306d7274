import type { Tool } from '../../kernel/index.ts';
import { defineTool, fail, ok } from '../../kernel/index.ts';
import type { Asks } from '../conversations/contract.ts';

/** `ask_user`: a question to the person at the other end, where there is one. */
export const askUserTool = (asks: Asks): Tool =>
  defineTool({
    name: 'ask_user',
    description:
      'Ask the user one question and wait for the answer. Use it only when you cannot go on without it. Returns what the user typed, or ' +
      '"(no answer)". It fails when nobody can answer: then decide by yourself and say what you assumed.',
    readOnly: true,
    idempotent: true,
    // The question ends after five minutes by itself.
    timeoutMs: 0,
    input: {
      type: 'object',
      properties: { question: { type: 'string', minLength: 1, description: 'The question, complete and short.' } },
      required: ['question'],
      additionalProperties: false,
    },
    async execute({ question }, { turn, signal }) {
      const answer = await asks.ask(turn.id, question, signal);
      if (answer === undefined) return fail('Nobody can answer here');
      return ok(answer.trim() === '' ? '(no answer)' : answer);
    },
  });

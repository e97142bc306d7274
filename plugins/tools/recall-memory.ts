import type { Tool } from '../../kernel/index.ts';
import { defineTool, fail, isOryxError, ok } from '../../kernel/index.ts';
import type { Memory } from '../memory/contract.ts';

/** `recall_memory`: notes that contain a keyword. */
export const recallMemoryTool = (memory: Memory): Tool =>
  defineTool({
    name: 'recall_memory',
    description:
      'Search what was saved to archival memory. Use it before you say that you do not know something about the user or earlier work. ' +
      'Returns the notes that contain the keyword, one per line, at most the 50 newest, or "No matching memory found".',
    readOnly: true,
    idempotent: true,
    input: {
      type: 'object',
      properties: {
        keyword: { type: 'string', minLength: 1, description: 'Part of what the note says; upper and lower case are equal.' },
      },
      required: ['keyword'],
      additionalProperties: false,
    },
    async execute({ keyword }, { turn }) {
      try {
        const hits = await memory.recall(turn.agent.name, keyword);
        return ok(hits.length === 0 ? 'No matching memory found' : hits.join('\n'));
      } catch (error) {
        if (!isOryxError(error)) throw error;
        return fail(`Memory not searched: ${error.message}`);
      }
    },
  });

import type { Tool } from '../../kernel/index.ts';
import { defineTool, fail, isOryxError, ok } from '../../kernel/index.ts';
import type { Memory, MemoryScope } from '../memory/contract.ts';

/** `save_memory`: one note for later conversations. */
export const saveMemoryTool = (memory: Memory): Tool =>
  defineTool({
    name: 'save_memory',
    description:
      'Remember one fact for later conversations. Use it when the user asks you to remember something, or tells a lasting preference. ' +
      'Returns "Saved to <scope> memory".',
    input: {
      type: 'object',
      properties: {
        content: { type: 'string', minLength: 1, description: 'The fact, in one or two sentences that make sense by themselves.' },
        scope: {
          type: 'string',
          description:
            '"archival" (default): found again by recall_memory. "core": stands in every prompt; little room, only for what always matters.',
        },
      },
      required: ['content'],
      additionalProperties: false,
    },
    async execute({ content, scope = '' }, { turn }) {
      const chosen = scopeFrom(scope);
      if (chosen === undefined) return fail('Bad arguments for save_memory: scope must be "core" or "archival"');
      try {
        await memory.remember(turn.agent.name, content, chosen, turn.id);
        return ok(`Saved to ${chosen} memory`);
      } catch (error) {
        if (!isOryxError(error)) throw error;
        return fail(`Not saved: ${error.message}`);
      }
    },
  });

function scopeFrom(text: string): MemoryScope | undefined {
  const scope = text.trim().toLowerCase();
  if (scope === '') return 'archival';
  return scope === 'core' || scope === 'archival' ? scope : undefined;
}

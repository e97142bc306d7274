/** Gives agents a memory in Markdown and puts it into their prompts. */
import { definePlugin, messageOf } from '../../kernel/index.ts';
import { markdownMemory } from './markdown-memory.ts';
import { memoryBlock } from './memory-block.ts';
import type { MemoryDocument } from './memory-document.ts';
import { memoryRoutes } from './routes.ts';

/** After everything that changes less often: what stands before it can be cached by providers. */
const PROMPT_ORDER = 80;

export default definePlugin({
  name: 'memory',
  requires: ['workspace', 'agents'],
  configAt: 'memory',
  config: {
    type: 'object',
    properties: { backend: { enum: ['markdown'], default: 'markdown' } },
    additionalProperties: false,
  },
  setup(ctx) {
    const { workspace, agents } = ctx.services;
    const memory = markdownMemory(workspace, ctx.clock);
    /** A memory changes rarely, and every model call needs its block. */
    const blocks = new WeakMap<MemoryDocument, string>();
    const blockOf = (document: MemoryDocument): string => {
      const block = blocks.get(document) ?? memoryBlock(document);
      blocks.set(document, block);
      return block;
    };
    ctx.provide('memory', memory);
    ctx.register('promptPart', {
      name: 'memory',
      order: PROMPT_ORDER,
      async render({ agent }) {
        try {
          return blockOf(await memory.document(agent.name));
        } catch (error) {
          // An agent without its memory can still do most of its work; who reads the log can repair the file.
          const reason = messageOf(error);
          ctx.log.warn('memory cannot be read', { agent: agent.name, reason });
          return `Your memory cannot be read at the moment: ${reason}.`;
        }
      },
    });
    for (const route of memoryRoutes(memory, agents)) ctx.register('route', route);
  },
});

/** Registers the built-in tools. */
import type { Tool } from '../../kernel/index.ts';
import { definePlugin } from '../../kernel/index.ts';
import { askUserTool } from './ask-user.ts';
import { currentTimeTool } from './current-time.ts';
import { jsonExtractTool } from './json-extract.ts';
import { listDirTool } from './list-dir.ts';
import { readFileTool } from './read-file.ts';
import { recallMemoryTool } from './recall-memory.ts';
import { toolRoutes } from './routes.ts';
import { saveMemoryTool } from './save-memory.ts';
import { writeFileTool } from './write-file.ts';

export default definePlugin({
  name: 'tools',
  requires: ['outside', 'memory', 'asks'],
  setup(ctx) {
    const { asks, memory, outside } = ctx.services;
    const tools: readonly Tool[] = [
      readFileTool(outside.files),
      writeFileTool(outside.files),
      listDirTool(outside.files),
      currentTimeTool(ctx.clock),
      jsonExtractTool(),
      saveMemoryTool(memory),
      recallMemoryTool(memory),
      askUserTool(asks),
    ];
    for (const tool of tools) ctx.register('tool', tool);
    for (const route of toolRoutes(ctx.registry('tool'))) ctx.register('route', route);
  },
});

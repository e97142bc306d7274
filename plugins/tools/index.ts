/** Registers the built-in tools. */
import type { Tool } from '../../kernel/index.ts';
import { definePlugin } from '../../kernel/index.ts';
import { appendFileTool } from './append-file.ts';
import { ArticleReader } from './article-reader.ts';
import { askUserTool } from './ask-user.ts';
import { copyFileTool } from './copy-file.ts';
import { currentTimeTool } from './current-time.ts';
import { deleteFileTool } from './delete-file.ts';
import { downloadFileTool } from './download-file.ts';
import { editFileTool } from './edit-file.ts';
import { createFence } from './fenced.ts';
import { fetchWebpageTool } from './fetch-webpage.ts';
import { globTool } from './glob.ts';
import { grepTool } from './grep.ts';
import { httpGetTool } from './http-get.ts';
import { httpPostTool } from './http-post.ts';
import { httpRequestTool } from './http-request.ts';
import { jsonExtractTool } from './json-extract.ts';
import { listDirTool } from './list-dir.ts';
import { makeDirTool } from './make-dir.ts';
import { MatcherThreads } from './matcher-threads.ts';
import { moveFileTool } from './move-file.ts';
import { readFileTool } from './read-file.ts';
import { readResultTool } from './read-result.ts';
import { recallMemoryTool } from './recall-memory.ts';
import { toolRoutes } from './routes.ts';
import { saveMemoryTool } from './save-memory.ts';
import { searchEngine } from './search-engine.ts';
import { shellTool } from './shell.ts';
import { webSearchTool } from './web-search.ts';
import { writeFileTool } from './write-file.ts';

export default definePlugin({
  name: 'tools',
  requires: ['outside', 'memory', 'asks', 'sessions', 'secrets'],
  configAt: { searchProvider: 'web_search.provider', searchBaseUrl: 'web_search.base-url', searchApiKey: 'web_search.api-key' },
  config: {
    type: 'object',
    properties: {
      searchProvider: { enum: ['duckduckgo', 'searxng', 'brave', 'tavily'], default: 'duckduckgo' },
      searchBaseUrl: { type: 'string', default: '' },
      searchApiKey: { type: 'string', default: '' },
    },
    additionalProperties: false,
  },
  setup(ctx) {
    const { asks, memory, outside, secrets, sessions } = ctx.services;
    const { searchProvider: provider, searchBaseUrl: baseUrl, searchApiKey: apiKey } = ctx.config;
    const threads = new MatcherThreads();
    ctx.own('threads of grep', () => threads.close());
    const articles = new ArticleReader(ctx.clock);
    ctx.own('threads of fetch_webpage', () => articles.close());
    ctx.own('key of web_search', secrets.remember(apiKey));
    const fence = createFence();
    const tools: readonly Tool[] = [
      readFileTool(outside.files),
      writeFileTool(outside.files),
      editFileTool(outside.files),
      appendFileTool(outside.files),
      listDirTool(outside.files),
      globTool(outside.files),
      grepTool(outside.files, threads, ctx.clock),
      makeDirTool(outside.files),
      moveFileTool(outside.files),
      copyFileTool(outside.files),
      deleteFileTool(outside.files),
      shellTool(outside.processes),
      httpGetTool(outside.http, fence),
      httpPostTool(outside.http, fence),
      httpRequestTool(outside.http, fence),
      fetchWebpageTool(outside.http, articles, fence),
      downloadFileTool(outside.http, outside.files, fence),
      webSearchTool(outside.http, searchEngine({ provider, baseUrl, apiKey }), fence),
      currentTimeTool(ctx.clock),
      jsonExtractTool(),
      saveMemoryTool(memory),
      recallMemoryTool(memory),
      askUserTool(asks),
      readResultTool(sessions),
    ];
    for (const tool of tools) ctx.register('tool', tool);
    for (const route of toolRoutes(ctx.registry('tool'))) ctx.register('route', route);
  },
});

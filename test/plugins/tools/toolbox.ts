/** A host whose model calls one tool when it is told to, and what became of the call. */
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Plugin, ToolResult } from '../../../kernel/index.ts';
import { definePlugin } from '../../../kernel/index.ts';
import type { HostOptions, TestHost } from '../../harness/index.ts';
import { agentFile, startHost } from '../../harness/index.ts';

/** Everything that is built in, sorted. */
export const TOOLS: readonly string[] = [
  'append_file',
  'ask_user',
  'copy_file',
  'current_time',
  'delete_file',
  'download_file',
  'edit_file',
  'fetch_webpage',
  'glob',
  'grep',
  'http_get',
  'http_post',
  'http_request',
  'json_extract',
  'list_dir',
  'make_dir',
  'move_file',
  'notify',
  'read_file',
  'read_result',
  'recall_memory',
  'save_memory',
  'shell',
  'web_search',
  'write_file',
];

export interface Toolbox extends AsyncDisposable {
  readonly host: TestHost;
  /** Next to `outside`; on the file whitelist unless the configuration says otherwise. Both are real paths outside the workspace. */
  readonly allowed: string;
  readonly outside: string;
  readonly top: string;
  /** The workspace, and the directory of agent `a1` in it. */
  readonly root: string;
  readonly home: string;
  /** Runs one turn of the agent in which the model makes this call. */
  call(tool: string, args: unknown, agent?: string): Promise<ToolResult>;
  /** The failed result of a call. Fails the test when the call succeeded. */
  failure(tool: string, args: unknown, agent?: string): Promise<Extract<ToolResult, { success: false }>>;
  /** The text of a successful call. Fails the test when the call failed. */
  text(tool: string, args: unknown, agent?: string): Promise<string>;
}

/** Agents `a1` and `a2` with every tool; failures go back to the model. */
export async function toolbox(options: HostOptions = {}): Promise<Toolbox> {
  const top = await realpath(await mkdtemp(join(tmpdir(), 'oryxos-tools-')));
  const [allowed, outside] = [join(top, 'allowed'), join(top, 'outside')];
  await mkdir(allowed);
  await mkdir(outside);
  await writeFile(join(allowed, 'ok.txt'), 'OK');
  await writeFile(join(outside, 'secret.txt'), 'TOP-SECRET');
  const front = `tools: [${TOOLS.join(', ')}]\nsettings:\n  on_fatal_tool_error: feedback`;
  const results: ToolResult[] = [];
  const host = await startHost({
    ...options,
    agents: { a1: agentFile('a1', front), a2: agentFile('a2', front), ...options.agents },
    config: { 'file.allowed_paths': ['.oryxos', allowed], ...options.config },
    plugins: [recorder(results), ...(options.plugins ?? [])],
  });
  const call = async (tool: string, args: unknown, agent = 'a1'): Promise<ToolResult> => {
    results.length = 0;
    host.model.willCall(tool, args);
    const { error } = await host.say(agent, 'go');
    const [result] = results;
    if (result === undefined) throw new Error(`no call of ${tool} was made: ${error?.message}`);
    return result;
  };
  return {
    host,
    top,
    allowed,
    outside,
    root: host.root,
    home: join(host.root, 'agents/a1'),
    call,
    async failure(tool, args, agent) {
      const result = await call(tool, args, agent);
      if (result.success) throw new Error(`${tool} succeeded: ${result.content}`);
      return result;
    },
    async text(tool, args, agent) {
      const result = await call(tool, args, agent);
      if (!result.success) throw new Error(`${tool} failed: ${result.errorMessage}`);
      return result.content;
    },
    async [Symbol.asyncDispose]() {
      await host.stop();
      await rm(top, { recursive: true, force: true });
    },
  };
}

function recorder(results: ToolResult[]): Plugin {
  return definePlugin({
    name: 'recorder',
    setup(ctx) {
      ctx.tap('afterToolCall', (rows, _call, result) => {
        results.push(result);
        return rows;
      });
    },
  });
}

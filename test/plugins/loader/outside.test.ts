import { expect } from 'chai';
import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { agentFile, startHost } from '../../harness/index.ts';
import { callTool, pluginFiles, pluginsYaml, viewOf } from './plugin-files.ts';

/** A plugin whose tools touch nothing but what the service `outside` gives them. */
const CODE = `import { definePlugin, defineTool, fail, ok } from 'oryxos';
import { FileProblem, HttpProblem, ProcessProblem, accessOf, urlClaim } from 'oryxos/outside';

const told = (error) => {
  if (!(error instanceof FileProblem || error instanceof HttpProblem || error instanceof ProcessProblem)) throw error;
  return fail(error.constructor.name + ': ' + error.message);
};
const text = { type: 'object', properties: { it: { type: 'string' } }, required: ['it'] };

export default definePlugin({
  name: 'reader',
  requires: ['outside'],
  setup(ctx) {
    const { files, http, processes } = ctx.services.outside;
    const tool = (name, run) =>
      ctx.register('tool', defineTool({ name, description: '', input: text, execute: ({ it }, call) => run(it, call).then(ok, told) }));
    tool('lines', async (path, call) => String(new TextDecoder().decode(await files.read(path, call, { maxBytes: 1000 })).split('\\n').length));
    tool('fetch', (url, call) => http.send({ method: 'GET', url }, call, async ({ status }) => String(status)));
    tool('start', async (executable, call) => (await processes.run({ executable, arguments: ['hello'] }, call)).stdout);
    tool('claim', async (url, call) => String(await call.claim(urlClaim(url, accessOf('GET')))));
  },
});
`;

describe('oryxos/outside', () => {
  it('lets the tools of a third-party plugin reach what the sandbox allows, and nothing else, and tells problems from faults', async () => {
    const agents = { t: agentFile('t', 'tools: [lines, fetch, start, claim]\nsettings: {on_fatal_tool_error: feedback}') };
    const files = { ...pluginFiles('reader', CODE), 'application.yml': pluginsYaml({ reader: {} }) };
    await using host = await startHost({ agents, files });
    expect(await viewOf(host, 'reader')).to.include({ state: 'active', error: null });
    await host.write('agents/t/poem.txt', 'one\ntwo');
    await symlink('/etc/passwd', join(host.root, 'agents/t/link.txt'));
    const call = (name: string, it: string): Promise<string> => callTool(host, 't', name, { it });

    expect(await call('lines', 'poem.txt')).to.equal('2');
    expect(await call('lines', 'none.txt')).to.include('FileProblem: File not found: none.txt');
    expect(await call('lines', '/etc/passwd')).to.include('"/etc/passwd" is not on the file whitelist');
    expect(await call('lines', 'link.txt')).to.include('not on the file whitelist');
    expect(await call('lines', '../../master.key')).not.to.match(/^\d/);
    expect(await call('start', 'echo')).to.equal('hello\n');
    expect(await call('start', 'rm')).to.include('not on the shell whitelist');
    expect(await call('fetch', 'http://127.0.0.1:9/')).to.include('not on the http whitelist');
    expect(await call('claim', 'https://example.com/')).to.include('example.com');
  });
});

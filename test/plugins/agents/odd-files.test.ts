import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { mkdir, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { agentFile, startHost, type TestHost, until } from '../../harness/index.ts';

const described = (name: string, description: string): string => agentFile(name, `description: ${description}`);

describe('agents in odd places and shapes', () => {
  let host: TestHost;
  const dir = (name: string): string => join(host.root, 'agents', name);
  const view = (name: string) => host.request('GET', `/api/v1/agents/${name}`);
  const edit = (name: string, text: string) => host.write(`agents/${name}/AGENT.md`, text);
  const has = (name: string, status: string) => until(`${name} is ${status}`, async () => (await view(name)).data?.status === status);

  before(async () => {
    host = await startHost();
    await edit('warm', agentFile('warm'));
    await until('the watch is up', async () => (await view('warm')).status === 200);
  });
  after(() => host.stop());

  it('are not found in directories with other names, or under other spellings of the file', async () => {
    for (const name of ['with space', 'dot.dot', '.hidden', 'x'.repeat(65)]) await edit(name, agentFile(name));
    await mkdir(dir('b10'));
    await writeFile(join(dir('b10'), 'Agent.md'), agentFile('b10'));
    await writeFile(join(host.root, 'agents', 'file'), 'x');
    await has('b10', 'broken');
    expect((await view('b10')).data.error.message).to.equal('the file is called "Agent.md": rename it to "AGENT.md"');
    await rename(join(dir('b10'), 'Agent.md'), join(dir('b10'), 'AGENT.md'));
    await has('b10', 'ok');
    const names = (await host.request('GET', '/api/v1/agents')).data.map(({ name }: { name: string }) => name);
    expect(names.filter((name: string) => !/^[A-Za-z0-9_-]{1,64}$/.test(name) || name === 'file')).to.deep.equal([]);
  });

  it('are read through links only as long as these stay inside', async () => {
    const outside = join(host.home, 'elsewhere');
    await mkdir(outside);
    await writeFile(join(outside, 'AGENT.md'), agentFile('b11'));
    await symlink(outside, dir('b11'));
    await mkdir(dir('b12'));
    await symlink(join(outside, 'AGENT.md'), join(dir('b12'), 'AGENT.md'));
    await mkdir(dir('b13'));
    await symlink('nowhere', join(dir('b13'), 'AGENT.md'));
    await mkdir(join(dir('b14'), 'versions'), { recursive: true });
    await writeFile(join(dir('b14'), 'versions', 'v2.md'), described('b14', 'linked'));
    await symlink('versions/v2.md', join(dir('b14'), 'AGENT.md'));
    await mkdir(join(dir('b15'), 'AGENT.md'), { recursive: true });
    await mkdir(dir('b16'));
    await promisify(execFile)('mkfifo', [join(dir('b16'), 'AGENT.md')]);
    await host.kernel.service('agents').settled();
    const messages = Object.fromEntries(
      ['b11', 'b12', 'b13', 'b15', 'b16'].map((name) => [name, host.kernel.service('agents').view(name).error?.message]),
    );
    expect(messages).to.deep.equal({
      b11: 'the directory is a link that leads out of the agents directory: put the directory itself there',
      b12: 'AGENT.md is a link that leads out of the agents directory: put the file itself there',
      b13: 'AGENT.md is a link to nothing',
      b15: 'AGENT.md is not a regular file',
      b16: 'AGENT.md is not a regular file',
    });
    expect(host.kernel.service('agents').view('b14')).to.deep.include({ status: 'ok', description: 'linked' });
  });

  it('must be UTF-8 text of a sensible size', async () => {
    await edit('b17', '');
    await writeFile(join(dir('b17'), 'AGENT.md'), Buffer.from(agentFile('b17', 'description: 运维'), 'utf16le'));
    await edit('b18', agentFile('b18', 'tools: []', 'x'.repeat(1_100_000)));
    await host.kernel.service('agents').settled();
    expect(host.kernel.service('agents').view('b17').error?.message).to.equal('the file is not UTF-8 text: save it as UTF-8');
    expect(host.kernel.service('agents').view('b18').error?.message).to.equal('the file is larger than 1 MB');
  });
});

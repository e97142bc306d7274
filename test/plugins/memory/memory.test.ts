import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { appendFile, link, mkdir, readFile, readdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Memory } from '../../../plugins/memory/contract.ts';
import { MemoryFiles } from '../../../plugins/memory/memory-file.ts';
import type { TestHost } from '../../harness/index.ts';
import { agentFile, fakeClock, startHost } from '../../harness/index.ts';

const at = new Date(2026, 6, 22, 9, 30, 0).getTime();
const STAMP = '[2026-07-22 09:30:00]';

async function failure(work: Promise<unknown>): Promise<{ readonly code?: string; readonly message: string }> {
  const error: unknown = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof Error)) throw new Error('expected a failure');
  return error;
}

describe('the memory of an agent', function () {
  this.timeout(20_000);

  let host: TestHost;
  let memory: Memory;
  let file: string;
  beforeEach(async () => {
    host = await startHost({ clock: fakeClock(at), agents: { a1: agentFile('a1'), a2: agentFile('a2') } });
    memory = host.kernel.service('memory');
    file = join(host.root, 'agents/a1/MEMORY.md');
  });
  afterEach(() => host.stop());

  const prompt = async (agent = 'a1'): Promise<string> => {
    await host.say(agent, 'hello');
    return host.model.requests.at(-1)?.system ?? '';
  };

  it('is a file with two sections', async () => {
    await memory.remember('a1', 'likes tea', 'archival');
    await memory.remember('a1', 'speak English', 'core');
    const text = `## Core memory\n- ${STAMP} speak English\n\n## Archival memory\n- ${STAMP} likes tea\n`;
    expect(await readFile(file, 'utf8')).to.equal(text);
    expect(await memory.readAll('a1')).to.equal(text);
    expect(await memory.readAll('a2')).to.equal('');
    expect(await readdir(join(host.root, 'agents/a1'))).to.have.members(['AGENT.md', 'MEMORY.md']);
  });

  it('notes the run that an entry comes from, in the file and nowhere else', async () => {
    const run = '01a22d8b-801d-4494-a3a9-be92b639fa88';
    await memory.remember('a1', 'likes tea', 'core', run);
    await memory.remember('a1', 'had tea', 'archival', run);
    const text = await readFile(file, 'utf8');
    expect(text).to.equal(
      `## Core memory\n- ${STAMP} likes tea\n  <!-- run ${run} -->\n\n## Archival memory\n- ${STAMP} had tea\n  <!-- run ${run} -->\n`,
    );
    expect(await prompt())
      .to.include(`## Core memory\n- ${STAMP} likes tea\n## Archival memory\n- ${STAMP} had tea\n`)
      .and.not.include(run);
    expect(await memory.recall('a1', 'tea')).to.deep.equal([`${STAMP} had tea`]);
    expect(await memory.recall('a1', run)).to.deep.equal([]);
    await writeFile(file, text.replaceAll('\n', '\r\n'));
    await memory.remember('a1', 'more', 'core', run);
    const [core = ''] = (await readFile(file, 'utf8')).split('\r\n\r\n');
    expect(core).to.match(/likes tea\r\n {2}<!-- run \S+ -->\r\n- \[.*\] more\r\n {2}<!-- run \S+ -->$/);
  });

  it('stands in the prompt of that agent, as it is on disk at the moment', async () => {
    expect(await prompt()).to.include('## Core memory\n(nothing yet)\n## Archival memory\n(nothing yet)');
    await memory.remember('a1', 'likes tea', 'core');
    expect(await prompt()).to.include(`## Core memory\n- ${STAMP} likes tea\n`);
    expect(await prompt('a2')).to.not.include('tea');
    await writeFile(file, '## 核心记忆\n- 喜欢茶\n');
    expect(await prompt())
      .to.include('## Core memory\n- 喜欢茶\n')
      .and.not.include('likes tea');
    await rm(file);
    expect(await prompt()).to.include('(nothing yet)');
  });

  it('keeps one line for each of many notes that come at once, and edits that people make meanwhile', async () => {
    await writeFile(file, '# My notes\n\nHands off.\n\n## Archival memory\n- first\n');
    const saves = Array.from({ length: 20 }, (_, index) => memory.remember('a1', `note ${index}`, index % 2 === 0 ? 'archival' : 'core'));
    const edits = (async () => {
      for (let edit = 0; edit < 5; edit += 1) await appendFile(file, `- edit ${edit}\n`);
    })();
    await Promise.all([...saves, edits]);
    const text = await readFile(file, 'utf8');
    expect(text.startsWith('# My notes\n\nHands off.\n\n## Archival memory\n- first\n')).to.equal(true);
    for (let index = 0; index < 20; index += 1) expect(text.split(`${STAMP} note ${index}\n`), `note ${index}`).to.have.length(2);
  });

  it('computes an entry anew when somebody saves the file in between', async () => {
    const files = new MemoryFiles(host.kernel.service('workspace'), fakeClock(at));
    const seen: string[] = [];
    await files.update(file, (text) => {
      seen.push(text);
      if (seen.length === 1) writeFileSync(file, 'from an editor\n');
      return `${text}added\n`;
    });
    expect(seen).to.deep.equal(['', 'from an editor\n']);
    expect(await readFile(file, 'utf8')).to.equal('from an editor\nadded\n');
    const endless = files.update(file, (text) => {
      writeFileSync(file, `${text}again\n`);
      return 'lost';
    });
    expect((await failure(endless)).message).to.equal('agents/a1/MEMORY.md keeps changing; try again');
  });

  it('finds the 50 newest entries by keyword, in the order of the file', async () => {
    const lines = Array.from({ length: 60 }, (_, index) => `- [2026-01-01 00:00] Tea no. ${index}`);
    await writeFile(file, `## Core memory\n- tea in core\n## Archival memory\n${lines.join('\n')}\n* water\n`);
    const hits = await memory.recall('a1', ' tEA ');
    expect(hits).to.deep.equal(lines.slice(10).map((line) => line.slice(2)));
    expect(await memory.recall('a1', 'water')).to.deep.equal(['water']);
    expect(await memory.recall('a1', '50%')).to.deep.equal([]);
    expect((await failure(memory.recall('a1', ''))).code).to.equal('ORYX_INVALID_INPUT');
  });

  it('refuses what core memory has no room for, with advice, and changes nothing', async () => {
    await writeFile(file, `## Core memory\n${'- 0123456789\n'.repeat(610)}`);
    const before = await readFile(file, 'utf8');
    const error = await failure(memory.remember('a1', 'x'.repeat(100), 'core'));
    expect(error.code).to.equal('ORYX_INVALID_INPUT');
    expect(error.message).to.include('8000').and.to.include('archival');
    expect(await readFile(file, 'utf8')).to.equal(before);
    await memory.remember('a1', 'x'.repeat(100), 'archival');
  });

  it('reaches nothing through links, pipes and second names', async function () {
    this.timeout(5_000);
    const secret = join(host.root, 'secret.txt');
    await writeFile(secret, '- TOP-SECRET');
    const traps: readonly (() => Promise<unknown>)[] = [
      () => symlink(secret, file),
      () => symlink(join(host.root, 'nowhere'), file),
      () => link(secret, file),
      async () => execFileSync('mkfifo', [file]),
      () => mkdir(file),
    ];
    for (const [index, trap] of traps.entries()) {
      await trap();
      expect((await failure(memory.remember('a1', 'note', 'archival'))).code, `trap ${index}`).to.equal('ORYX_CONFLICT');
      expect((await failure(memory.recall('a1', 'SECRET'))).code, `trap ${index}`).to.equal('ORYX_CONFLICT');
      expect(await prompt())
        .to.include('Your memory cannot be read')
        .and.not.include('TOP-SECRET');
      const answer = await host.request('GET', '/api/v1/agents/a1/memory');
      expect(answer.status).to.equal(409);
      expect(answer.text).to.not.include('TOP-SECRET').and.not.include(host.root);
      await rm(file, { recursive: true });
    }
    expect(await readFile(secret, 'utf8')).to.equal('- TOP-SECRET');
    expect(await readdir(host.root)).to.not.include('nowhere');
  });

  it('does not leave the workspace over a directory that is a link', async () => {
    const elsewhere = join(host.home, 'elsewhere');
    await mkdir(elsewhere);
    await symlink(elsewhere, join(host.root, 'agents/evil'));
    expect((await failure(memory.remember('evil', 'note', 'archival'))).code).to.equal('ORYX_CONFLICT');
    expect(await readdir(elsewhere)).to.deep.equal([]);
    for (const name of ['../a2', '..', '', 'a/b', 'a1/../a2']) {
      expect((await failure(memory.remember(name, 'note', 'archival'))).code, name).to.equal('ORYX_INVALID_INPUT');
    }
  });

  it('is not written when it is not UTF-8, because that would damage it', async () => {
    const bytes = Buffer.from([0x23, 0x20, 0xff, 0xfe, 0x0a]);
    await writeFile(file, bytes);
    expect((await failure(memory.remember('a1', 'note', 'archival'))).code).to.equal('ORYX_CONFLICT');
    expect(await readFile(file)).to.deep.equal(bytes);
  });

  it('does not bring back the directory of a deleted agent', async () => {
    await rename(join(host.root, 'agents/a1'), join(host.home, 'archived'));
    expect((await failure(memory.remember('a1', 'note', 'archival'))).code).to.equal('ORYX_NOT_FOUND');
    expect(await readdir(join(host.root, 'agents'))).to.not.include('a1');
  });

  describe('over REST', () => {
    it('is the text of the file, or "" without one', async () => {
      const empty = await host.request('GET', '/api/v1/agents/a1/memory');
      expect([empty.status, empty.data]).to.deep.equal([200, '']);
      await memory.remember('a1', 'tea', 'archival');
      expect((await host.request('GET', '/api/v1/agents/a1/memory')).data).to.equal(await readFile(file, 'utf8'));
    });

    it('falls back to the memory that all agents share', async () => {
      await host.write('memory/MEMORY.md', 'shared\n');
      expect((await host.request('GET', '/api/v1/agents/a1/memory')).data).to.equal('shared\n');
      await memory.remember('a1', 'tea', 'archival');
      expect((await host.request('GET', '/api/v1/agents/a1/memory')).data).to.not.include('shared');
    });

    it('does not exist for an unknown agent', async () => {
      for (const name of ['nobody', '..', '%2e%2e%2f', 'a1%2f..%2fa2']) {
        expect((await host.request('GET', `/api/v1/agents/${name}/memory`)).status, name).to.be.oneOf([400, 404]);
      }
    });
  });
});

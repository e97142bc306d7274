import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, open, readFile, readlink, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ArchiveWriter } from '../../../plugins/backup/archive-writer.ts';
import { decodeHead, decodePax, encodeHead } from '../../../plugins/backup/tar-header.ts';
import { readTar, TarProblem } from '../../../plugins/backup/tar-reader.ts';

const LONG = `agents/${'deep/'.repeat(40)}笔记 📝.md`;
const head = (path: string, more: object = {}) => ({
  path,
  type: 'file' as const,
  mode: 0o640,
  modifiedAt: 1_784_707_200_000,
  target: '',
  ...more,
});

describe('the tar files of backups', () => {
  let directory: string;
  let file: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'oryxos-tar-'));
    file = join(directory, 'a.tar');
  });
  afterEach(() => rm(directory, { recursive: true, force: true }));

  async function write(): Promise<void> {
    await writeFile(join(directory, 'source'), 'x'.repeat(300_000));
    await writeFile(join(directory, 'empty'), '');
    const handle = await open(file, 'wx');
    const archive = new ArchiveWriter(handle);
    await archive.add(head('agents', { type: 'directory', mode: 0o750 }));
    await archive.addFile(head('agents/big'), join(directory, 'source'));
    await archive.addFile(head('agents/empty'), join(directory, 'empty'));
    await archive.addFile(head(LONG), join(directory, 'source'));
    await archive.add(head('agents/link', { type: 'link', target: `../${'skills/'.repeat(20)}é` }));
    await archive.finish('last.json', '{}', 0);
    await handle.close();
  }

  async function entries(path = file) {
    const handle = await open(path, 'r');
    try {
      const found = [];
      for await (const entry of readTar(handle)) {
        let bytes = 0;
        for await (const chunk of entry.content()) bytes += chunk.length;
        found.push({ path: entry.path, type: entry.type, mode: entry.mode, target: entry.target, bytes });
      }
      return found;
    } finally {
      await handle.close();
    }
  }

  it('give back what was put in: long names, names in any script, links, empty files', async () => {
    await write();
    expect(await entries()).to.deep.equal([
      { path: 'agents', type: 'directory', mode: 0o750, target: '', bytes: 0 },
      { path: 'agents/big', type: 'file', mode: 0o640, target: '', bytes: 300_000 },
      { path: 'agents/empty', type: 'file', mode: 0o640, target: '', bytes: 0 },
      { path: LONG, type: 'file', mode: 0o640, target: '', bytes: 300_000 },
      { path: 'agents/link', type: 'link', mode: 0o640, target: `../${'skills/'.repeat(20)}é`, bytes: 0 },
      { path: 'last.json', type: 'file', mode: 0o600, target: '', bytes: 2 },
    ]);
  });

  it('can be read by the tar program of the system', async function () {
    await write();
    const out = join(directory, 'out');
    await mkdir(out);
    try {
      execFileSync('tar', ['-xf', file, '-C', out], { stdio: 'pipe' });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') this.skip();
      throw error;
    }
    expect((await readFile(join(out, LONG), 'utf8')).length).to.equal(300_000);
    expect((await stat(join(out, 'agents/big'))).mtimeMs).to.equal(1_784_707_200_000);
    expect(await readlink(join(out, 'agents/link'))).to.equal(`../${'skills/'.repeat(20)}é`);
  });

  it('keep every size, also one of which the old form knows nothing', () => {
    const paxOf = (bytes: Buffer) => decodePax(bytes.subarray(512, 512 + (decodeHead(bytes.subarray(0, 512))?.size ?? 0)));
    const huge = 20 * 1024 ** 3;
    const bytes = encodeHead({ ...head('huge'), size: huge });
    expect(bytes.length).to.equal(1536);
    expect(paxOf(bytes)?.get('size')).to.equal(String(huge));
    for (const length of [1, 8, 9, 85, 86, 87, 88, 90, 91, 92, 93, 98, 99, 100, 101, 984, 985, 986, 990, 1000]) {
      const path = 'é'.repeat(length);
      const record = encodeHead({ ...head(path), size: 0 });
      expect(paxOf(record)?.get('path'), String(length)).to.equal(path);
    }
  });

  it('are refused when they are damaged, cut short, or go on after their end', async () => {
    await write();
    const whole = await readFile(file);
    const refusal = async (bytes: Buffer): Promise<string> => {
      await writeFile(join(directory, 'b.tar'), bytes);
      const error = await entries(join(directory, 'b.tar')).catch((thrown: unknown) => thrown);
      return error instanceof TarProblem ? error.message : `accepted: ${JSON.stringify(error)}`;
    };
    for (const length of [0, 100, 512, 5_000, whole.length - 1024, whole.length - 512])
      expect(await refusal(whole.subarray(0, length)), String(length)).to.equal('it is cut short');
    expect(await refusal(Buffer.concat([whole, Buffer.alloc(512)]))).to.match(/^it goes on after its end/);
    const damaged = Buffer.from(whole);
    damaged[3] = 0x41;
    expect(await refusal(damaged)).to.equal('it is damaged at byte 0');
    expect(await refusal(Buffer.from('not a tar file'.repeat(100)))).to.equal('it is damaged at byte 0');
  });
});

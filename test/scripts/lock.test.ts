import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { script } from './checkout.ts';

interface Owner {
  readonly token: string;
  readonly pid: number;
  readonly host: string;
  readonly since: number;
}
interface LockModule {
  readonly withLock: <T>(directory: string, work: () => Promise<T>, onWait?: (owner: Owner) => void) => Promise<T>;
  readonly isStale: (owner: Owner) => boolean;
}
const { withLock, isStale } = await script<LockModule>('lock.mjs');

describe('the lock of the set-up', () => {
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'oryxos-lock-'));
  });
  afterEach(() => rm(directory, { recursive: true, force: true }));

  const deadPid = (): number => spawnSync(process.execPath, ['-e', '']).pid;
  const leaveBehind = async (owner: Partial<Owner>): Promise<void> => {
    await mkdir(join(directory, 'lock'));
    await writeFile(
      join(directory, 'lock', 'owner.json'),
      JSON.stringify({ token: 'old', pid: process.pid, host: hostname(), since: Date.now(), ...owner }),
    );
  };

  it('lets one in at a time and leaves nothing behind', async () => {
    let inside = 0;
    let most = 0;
    const work = async (): Promise<void> => {
      inside += 1;
      most = Math.max(most, inside);
      await new Promise((resolve) => setImmediate(resolve));
      inside -= 1;
    };
    await Promise.all(Array.from({ length: 8 }, () => withLock(join(directory, 'lock'), work)));
    expect(most).to.equal(1);
    expect(await readdir(directory)).to.deep.equal([]);
  });

  it('is free again after work that failed', async () => {
    const failed = await withLock(join(directory, 'lock'), () => Promise.reject(new Error('no'))).catch((error: Error) => error.message);
    expect(failed).to.equal('no');
    expect(await withLock(join(directory, 'lock'), async () => 'in')).to.equal('in');
  });

  it('takes over from a process that was killed; of many that see it, still one at a time', async () => {
    await leaveBehind({ pid: deadPid() });
    let inside = 0;
    const work = async (): Promise<number> => {
      inside += 1;
      const seen = inside;
      await new Promise((resolve) => setImmediate(resolve));
      inside -= 1;
      return seen;
    };
    const seen = await Promise.all(Array.from({ length: 4 }, () => withLock(join(directory, 'lock'), work)));
    expect(seen).to.deep.equal([1, 1, 1, 1]);
    expect(await readdir(directory)).to.deep.equal([]);
  });

  it('calls a living owner fresh, a dead one or one of half an hour ago stale', () => {
    const owner: Owner = { token: 't', pid: process.pid, host: hostname(), since: Date.now() };
    expect(isStale(owner)).to.equal(false);
    expect(isStale({ ...owner, pid: deadPid() })).to.equal(true);
    expect(isStale({ ...owner, pid: deadPid(), host: 'elsewhere' })).to.equal(false);
    expect(isStale({ ...owner, since: Date.now() - 31 * 60_000 })).to.equal(true);
  });

  it('says once whom it waits for', async () => {
    const waits: number[] = [];
    let release: () => void = () => {};
    const started = new Promise<void>((begun) => {
      void withLock(join(directory, 'lock'), () => {
        begun();
        return new Promise<void>((resolve) => (release = resolve));
      });
    });
    await started;
    await withLock(
      join(directory, 'lock'),
      async () => {},
      ({ pid }) => {
        waits.push(pid);
        release();
      },
    );
    expect(waits).to.deep.equal([process.pid]);
  });
});

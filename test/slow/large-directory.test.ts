import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { bench } from '../plugins/outside/bench.ts';

describe('a walk through a large directory', () => {
  it('looks at 50 000 entries at most and says so', async function () {
    this.timeout(120_000);
    await using b = await bench();
    for (const directory of ['a', 'b']) {
      await mkdir(join(b.home, directory));
      execFileSync('sh', ['-c', 'seq 1 26000 | xargs touch'], { cwd: join(b.home, directory) });
    }
    let count = 0;
    const visit = (): boolean => (count += 1) > 0;
    const cuts = await b.files.walk('.', b.run(), { enters: () => true, wants: () => true, visit });
    expect(cuts).to.deep.equal(['entries']);
    expect(count).to.equal(49_998);
  });
});

import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { isBuilt, nodeArguments } from '../../examples/installed-oryxos.ts';

describe('the HTTP client', () => {
  it('that could not be loaded for too many open files is loaded as soon as there are fewer', function () {
    if (process.platform !== 'linux') this.skip();
    this.timeout(20_000);
    const script = join(import.meta.dirname, isBuilt ? 'few-descriptors.js' : 'few-descriptors.ts');
    const command = ['exec', process.execPath, ...nodeArguments, script]
      .map((part) => `'${part}'`)
      .join(' ')
      .replace("'exec'", 'exec');
    const said = execFileSync('/bin/sh', ['-c', `ulimit -n 80; ${command}`], { encoding: 'utf8' });
    expect(said).to.equal('the HTTP client could not be loaded (EMFILE); try again\nloaded\n');
  });
});

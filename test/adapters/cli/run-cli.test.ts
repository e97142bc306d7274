import { expect } from 'chai';
import { openTerminal } from './terminal.ts';

describe('the command line', () => {
  it('prints its usage and ends with 0 when nothing is asked', async () => {
    await using terminal = await openTerminal();
    expect(await terminal.run()).to.equal(0);
    expect(terminal.stdout()).to.contain('Usage: oryxos COMMAND').and.to.contain('profile check [NAME]');
    expect(terminal.stderr()).to.equal('');
  });

  it('prints product, runtime and system as its version', async () => {
    await using terminal = await openTerminal();
    expect(await terminal.run('-V')).to.equal(0);
    const lines = terminal.stdout().trimEnd().split('\n');
    expect(lines).to.have.length(3);
    expect(lines[0]).to.equal('oryxos 1.2.3');
    expect(lines[1]).to.equal(`Node.js ${process.version}`);
  });

  it('explains groups and commands', async () => {
    await using terminal = await openTerminal();
    expect(await terminal.run('provider', '--help')).to.equal(0);
    expect(await terminal.run('provider', 'add', '-h')).to.equal(0);
    expect(terminal.stdout()).to.contain('provider test NAME').and.to.contain('--key-env VARIABLE').and.to.contain('--root DIR');
  });

  it('ends with 2 for what it does not understand, with a hint on stderr', async () => {
    await using terminal = await openTerminal();
    expect(await terminal.run('sevre')).to.equal(2);
    expect(terminal.stderr()).to.equal('Error: Unknown command "sevre". Did you mean "serve"?\nTry: oryxos --help\n');
    expect(await terminal.run('help', 'nonsense')).to.equal(2);
    expect(await terminal.run('serve', '--port', '99999')).to.equal(2);
    expect(terminal.stdout()).to.equal('');
  });

  it('ends with 1 and one line for a failure, without a stack', async () => {
    await using terminal = await openTerminal();
    expect(await terminal.run('profile', 'list')).to.equal(1);
    expect(terminal.stderr()).to.match(/^Error: There is no workspace at .*\. Create one with "oryxos init"\.\n$/);
  });

  it('leaves a usage error in a name before anything is touched', async () => {
    await using terminal = await openTerminal();
    expect(await terminal.run('init')).to.equal(0);
    for (const name of ['..', '../../x', 'a/b', '', 'a b'])
      expect(await terminal.run('profile', 'delete', name, '--yes'), name).to.equal(2);
    expect(terminal.started).to.deep.equal([]);
  });
});

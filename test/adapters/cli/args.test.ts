import { expect } from 'chai';
import { defineCommand, parseArgs } from '../../../adapters/cli/args.ts';
import { nameCheck } from '../../../adapters/cli/checks.ts';
import { UsageError } from '../../../adapters/cli/usage-error.ts';

const nothing = async (): Promise<void> => {};
const commands = [
  defineCommand({ name: 'status', summary: 'Status', options: { json: { kind: 'flag', help: 'JSON' } }, run: nothing }),
  defineCommand({
    name: 'pet add',
    summary: 'Add a pet',
    words: { name: { help: 'its name', check: nameCheck }, kind: { help: 'its kind', optional: true } },
    options: { food: { kind: 'text', value: 'FOOD', help: 'what it eats' } },
    run: nothing,
  }),
  defineCommand({ name: 'pet list', summary: 'List pets', run: nothing }),
];

const read = (...argv: readonly string[]): Record<string, unknown> => {
  const request = parseArgs(argv, commands);
  return request.kind === 'run' ? { command: request.command.name, ...request.args } : { ...request };
};
const faultOf = (...argv: readonly string[]): string => {
  try {
    parseArgs(argv, commands);
  } catch (error) {
    expect(error).to.be.instanceOf(UsageError);
    return (error as UsageError).message;
  }
  throw new Error(`accepted: ${argv.join(' ')}`);
};

describe('the arguments of the command line', () => {
  it('reads words, flags and options in any order, with a blank or "=" before the value', () => {
    expect(read('pet', 'add', '--food', 'hay', 'Rex', 'dog')).to.include({ command: 'pet add', name: 'Rex', kind: 'dog', food: 'hay' });
    expect(read('pet', 'add', 'Rex', '--food=a=b')).to.include({ name: 'Rex', food: 'a=b' });
    expect(read('status', '--json')).to.include({ command: 'status', json: true, root: undefined });
    expect(read('status')).to.include({ json: false });
  });

  it('takes --root and --config before the command too', () => {
    expect(read('--root', '/tmp/x', '--config=c.yml', 'pet', 'list')).to.include({ command: 'pet list', root: '/tmp/x', config: 'c.yml' });
  });

  it('takes what follows "--" as words', () => {
    expect(read('pet', 'add', '--', 'Rex', '--food')).to.include({ name: 'Rex', kind: '--food', food: undefined });
  });

  it('answers help and version wherever they stand', () => {
    expect(read()).to.deep.equal({ kind: 'help', topic: '' });
    expect(read('--help')).to.deep.equal({ kind: 'help', topic: '' });
    expect(read('pet', '-h')).to.deep.equal({ kind: 'help', topic: 'pet' });
    expect(read('pet', 'add', '--help')).to.deep.equal({ kind: 'help', topic: 'pet add' });
    expect(read('help', 'pet', 'add')).to.deep.equal({ kind: 'help', topic: 'pet add' });
    expect(read('-V')).to.deep.equal({ kind: 'version' });
    expect(read('status', '--version')).to.deep.equal({ kind: 'version' });
  });

  it('refuses unknown commands and options and guesses what was meant', () => {
    expect(faultOf('sattus')).to.equal('Unknown command "sattus". Did you mean "status"?');
    expect(faultOf('pet', 'lst')).to.equal('Unknown command "pet lst". Did you mean "list"?');
    expect(faultOf('status', '--jsno')).to.equal('Unknown option "--jsno" for "status". Did you mean "--json"?');
    expect(faultOf('--vresion')).to.contain('Did you mean "--version"?');
    expect(faultOf('status', '-x')).to.contain('Unknown option "-x"');
    expect(faultOf('elephant')).to.equal('Unknown command "elephant".');
    expect(faultOf('status', '--__proto__')).to.contain('Unknown option');
  });

  it('refuses missing, surplus and bad words and values', () => {
    expect(faultOf('pet')).to.equal('Missing a command after "pet": add, list.');
    expect(faultOf('pet', 'add')).to.equal('Missing NAME: its name.');
    expect(faultOf('pet', 'add', '..')).to.contain('NAME must be 1 to 64 letters');
    expect(faultOf('pet', 'list', 'more')).to.contain('does not know what to do with "more"');
    expect(faultOf('pet', 'add', 'Rex', '--food')).to.equal('Option "--food" needs a value: --food FOOD.');
    expect(faultOf('pet', 'add', 'Rex', '--food', '--root', 'x')).to.contain('needs a value');
    expect(faultOf('status', '--json=yes')).to.contain('takes no value');
    expect(faultOf('--root')).to.contain('Missing a command');
  });
});

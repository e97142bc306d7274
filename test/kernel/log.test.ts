import { expect } from 'chai';
import { stub } from 'sinon';
import { definePlugin, type LogLine, type Plugin } from '../../kernel/index.ts';
import { LogHub } from '../../kernel/log.ts';
import { fakeClock } from '../harness/fake-clock.ts';
import { startKernel } from './kernel-fixture.ts';

const sinkTo = (lines: LogLine[], name = 'kept') => ({ name, write: (line: LogLine) => void lines.push(line) });
const messages = (lines: readonly LogLine[]): readonly string[] => lines.map(({ message }) => message);

function hub(): { readonly logs: LogHub; readonly lastResort: LogLine[] } {
  const lastResort: LogLine[] = [];
  return { logs: new LogHub(fakeClock(5), (line) => void lastResort.push(line)), lastResort };
}

describe('log', () => {
  it('reaches every sink with time, level, plugin and fields', () => {
    const { logs } = hub();
    const [one, two]: [LogLine[], LogLine[]] = [[], []];
    logs.useSinks([sinkTo(one), sinkTo(two)]);
    logs.logger('agents').warn('a file is gone', { file: 'x' });
    expect(one).to.deep.equal([{ at: 5, level: 'warn', plugin: 'agents', message: 'a file is gone', fields: { file: 'x' } }]);
    expect(two).to.deep.equal(one);
  });

  it('carries the trace id inside a trace, across awaits, and not outside', async () => {
    const { logs } = hub();
    const lines: LogLine[] = [];
    logs.useSinks([sinkTo(lines)]);
    const log = logs.logger('p');
    await logs.withTrace('t-1', async () => {
      await Promise.resolve();
      log.info('inside');
    });
    log.info('outside');
    expect(lines.map(({ traceId }) => traceId)).to.deep.equal(['t-1', undefined]);
    expect(lines[1]).to.not.have.property('traceId');
  });

  it('keeps the last 1000 lines until the first sink comes, and gives them to it alone', () => {
    const { logs, lastResort } = hub();
    const log = logs.logger('p');
    for (let n = 0; n < 1_005; n += 1) log.debug(`line ${n}`);
    const [first, second]: [LogLine[], LogLine[]] = [[], []];
    logs.useSinks([sinkTo(first), sinkTo(second)]);
    expect(first).to.have.length(1_000);
    expect(first[0]?.message).to.equal('line 5');
    expect(second).to.deep.equal([]);
    logs.close();
    expect(lastResort).to.deep.equal([]);
  });

  it('gives the kept lines to the last resort when the host closes and no sink ever came', () => {
    const { logs, lastResort } = hub();
    logs.logger('p').info('early');
    logs.close();
    logs.logger('p').info('late');
    expect(messages(lastResort)).to.deep.equal(['early', 'late']);
  });

  it('says only what is serious after the last sink has left', () => {
    const { logs, lastResort } = hub();
    logs.useSinks([sinkTo([])]);
    logs.useSinks([]);
    logs.logger('p').info('chatter');
    logs.logger('p').warn('stuck call');
    logs.close();
    expect(messages(lastResort)).to.deep.equal(['stuck call']);
  });

  it('survives a sink that throws: the others get the line, and the last resort too', () => {
    const { logs, lastResort } = hub();
    const lines: LogLine[] = [];
    const broken = {
      name: 'broken',
      write: () => {
        throw new Error('disk full');
      },
    };
    logs.useSinks([broken, sinkTo(lines)]);
    logs.logger('p').info('one');
    logs.logger('p').info('two');
    expect(messages(lines)).to.deep.equal(['one', 'two']);
    expect(messages(lastResort)).to.deep.equal(['one', 'a log sink failed', 'two']);
  });

  it('prints lines that no sink takes as JSON on stderr, whatever they hold', () => {
    const written: string[] = [];
    const stderr = stub(process.stderr, 'write').callsFake((text) => written.push(String(text)) > 0);
    try {
      const logs = new LogHub(fakeClock(5));
      const cyclic: { self?: unknown } = {};
      cyclic.self = cyclic;
      logs.logger('p').error('failed\n', { error: new Error('why'), size: 5n });
      logs.logger('p').error('cyclic', { cyclic });
      logs.close();
    } finally {
      stderr.restore();
    }
    expect(written.every((line) => line.indexOf('\n') === line.length - 1)).to.equal(true);
    expect(JSON.parse(written[0] ?? '')).to.have.nested.property('fields.error.message', 'why');
    expect(JSON.parse(written[1] ?? '')).to.include({ message: 'cyclic', fields: 'could not be printed' });
  });

  it('of a plugin goes to sinks that other plugins register, without a gap while a sink is swapped', async () => {
    await using host = await startKernel();
    const lines: LogLine[] = [];
    const logging = (version: string): Plugin =>
      definePlugin({
        name: 'logging',
        setup(ctx) {
          ctx.register('logSink', {
            name: 'file',
            write: (line) => void (line.plugin === 'p' && lines.push({ ...line, fields: { version } })),
          });
        },
      });
    let log: (message: string) => void = () => undefined;
    await host.kernel.load(logging('1'));
    await host.kernel.load(definePlugin({ name: 'p', setup: (ctx) => void (log = (message) => ctx.log.info(message)) }));
    host.kernel.withTrace('t-9', () => log('one'));
    await host.kernel.replace(logging('2'));
    log('two');
    expect(lines.map(({ message, traceId, fields }) => [message, traceId, fields['version']])).to.deep.equal([
      ['one', 't-9', '1'],
      ['two', undefined, '2'],
    ]);
  });

  it('does not carry a trace into what a plugin starts when somebody loads it during a turn', async () => {
    await using host = await startKernel();
    await host.kernel.withTrace('t-9', () => host.kernel.load(definePlugin({ name: 'p', setup: (ctx) => ctx.log.info('starting') })));
    expect(host.lines.find(({ plugin }) => plugin === 'p')).to.not.have.property('traceId');
  });
});

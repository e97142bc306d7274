import { mkdtemp, readFile, readdir, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { createKernel, definePlugin, type KernelHost, type Logger, OryxError } from '../../../kernel/index.ts';
import loggingPlugin from '../../../plugins/logging/index.ts';
import '../../../plugins/secrets/contract.ts';
import secretsPlugin from '../../../plugins/secrets/index.ts';
import workspacePlugin from '../../../plugins/workspace/index.ts';
import { fakeClock } from '../../harness/fake-clock.ts';
import { until } from '../../harness/until.ts';

type Entry = Readonly<Record<string, unknown>>;

describe('logging', () => {
  let root: string;
  let kernel: KernelHost;
  let log: Logger;
  let console: string;
  const realWrite = process.stderr.write.bind(process.stderr);

  const start = async (config: Readonly<Record<string, unknown>> = {}): Promise<void> => {
    kernel = createKernel({ clock: fakeClock() });
    const speaker = definePlugin({ name: 'speaker', setup: (ctx) => void (log = ctx.log) });
    const loaded = [
      [workspacePlugin, { root }],
      [secretsPlugin, {}],
      [loggingPlugin, { format: 'off', ...config }],
      [speaker, {}],
    ] as const;
    for (const [plugin, settings] of loaded) {
      const { error } = await kernel.load(plugin, settings);
      if (error) throw error;
    }
  };
  const logFile = (name = 'oryxos.log'): string => join(root, 'logs', name);
  const lines = async (name?: string): Promise<readonly string[]> => (await readFile(logFile(name), 'utf8')).split('\n').filter(Boolean);
  const written = async (): Promise<readonly Entry[]> => {
    await kernel.close();
    return (await lines()).map((line) => JSON.parse(line) as Entry).filter(({ plugin }) => plugin === 'speaker');
  };
  /** What one call puts into the file. */
  const oneEntry = async (message: string, fields: Readonly<Record<string, unknown>>): Promise<Entry> => {
    await start();
    log.info(message, fields);
    const [entry = {}] = await written();
    return entry;
  };

  beforeEach(async () => {
    root = await realpath(await mkdtemp(join(tmpdir(), 'oryxos-logging-')));
    console = '';
    process.stderr.write = (text: string | Uint8Array) => {
      console += String(text);
      return true;
    };
  });
  afterEach(async () => {
    await kernel.close();
    process.stderr.write = realWrite;
    await rm(root, { recursive: true, force: true });
  });

  it('writes one line of JSON for each event, readable by its owner only', async () => {
    await start();
    log.info('Turn finished', { agent: 'default', durationMs: 12, ok: true, none: null, list: [1, 'b'] });
    log.warn('Something is odd');
    const [first, second] = await written();
    expect(first).to.deep.equal({
      timestamp: '2026-11-30T00:00:00.000Z',
      level: 'info',
      plugin: 'speaker',
      message: 'Turn finished',
      agent: 'default',
      durationMs: 12,
      ok: true,
      none: null,
      list: [1, 'b'],
    });
    expect(second).to.include({ level: 'warn', message: 'Something is odd' });
    expect((await stat(logFile())).mode & 0o777).to.equal(0o600);
    expect((await stat(join(root, 'logs'))).mode & 0o777).to.equal(0o700);
  });

  it('keeps the lines that came before it was loaded', async () => {
    await start();
    await kernel.close();
    expect((await lines()).join('\n')).to.include('Key file created');
  });

  it('lets no field take the place of the line’s own', async () => {
    const entry = await oneEntry('real', { message: 'forged', level: 'error', timestamp: 0, plugin: 'kernel', traceId: 't', other: 1 });
    expect(entry).to.include({
      message: 'real',
      level: 'info',
      plugin: 'speaker',
      'fields.message': 'forged',
      'fields.plugin': 'kernel',
      other: 1,
    });
    expect(entry).to.not.have.property('traceId');
  });

  it('skips lines below the level', async () => {
    await start({ level: 'warn' });
    log.debug('a');
    log.info('b');
    log.warn('c');
    log.error('d');
    expect((await written()).map(({ message }) => message)).to.deep.equal(['c', 'd']);
  });

  it('keeps code, message, stack and causes of an error', async () => {
    const cause = Object.assign(new Error('no route'), { code: 'EHOSTUNREACH' });
    const error = new OryxError('ORYX_PROVIDER_FAILED', 'The provider did not answer.', { cause });
    const { error: shown } = (await oneEntry('failed', { error })) as { error: Entry };
    expect(shown).to.include({ code: 'ORYX_PROVIDER_FAILED', message: 'The provider did not answer.' });
    expect(shown['stack']).to.include('logging.test');
    expect(shown['cause']).to.include({ code: 'EHOSTUNREACH', message: 'no route' });
  });

  it('takes whatever it is given', async () => {
    const circle: Record<string, unknown> = {
      big: 10n,
      bytes: new Uint8Array(3),
      at: new Date(0),
      odd: Number.NaN,
      map: new Map([['a', 1]]),
    };
    circle['self'] = circle;
    const trap = Object.defineProperty({}, 'x', { enumerable: true, get: () => expect.fail('do not touch') });
    const deep = Array.from({ length: 20 }).reduce((inner) => ({ inner }), 'end');
    const entry = await oneEntry('odd', {
      circle,
      trap,
      deep,
      wide: Array.from({ length: 1_000 }, (_, index) => index),
      fn: () => 1,
      aggregate: new AggregateError([new Error('inner')], 'outer'),
    });
    expect(entry['circle']).to.deep.equal({
      big: '10',
      bytes: '(3 bytes)',
      at: '1970-01-01T00:00:00.000Z',
      odd: 'NaN',
      map: [['a', 1]],
      self: '(circular)',
    });
    expect(entry['trap']).to.equal('(unreadable)');
    expect(JSON.stringify(entry['deep'])).to.include('(too deep)');
    expect(entry['wide']).to.have.length(101);
    expect(JSON.stringify(entry['aggregate'])).to.include('inner');
  });

  it('hides secrets in messages, fields, names and errors', async () => {
    await start();
    kernel.service('secrets').remember('known-secret-value');
    const text = 'sk-abcdefghijklmnop and known-secret-value';
    log.info(`message with ${text}`, {
      text,
      deep: { list: [text] },
      [text]: 1,
      apiKey: 'abcdefghijkl',
      error: new Error(text, { cause: text }),
    });
    await kernel.close();
    const all = (await lines()).join('\n');
    expect(all).to.not.match(/abcdefgh|known-secret/);
    expect(all).to.include('"apiKey":"****"').and.include('sk-a****');
  });

  it('masks before it cuts', async () => {
    const { text } = await oneEntry('long', { text: `${'x'.repeat(8_185)} sk-abcdefghijklmnop${'y'.repeat(10_000)}` });
    expect(text).to.not.include('sk-abc');
    expect(String(text).length).to.be.lessThan(8_300);
  });

  it('lets nobody forge a line or move the cursor', async () => {
    await start({ format: 'readable' });
    const evil = 'a\nfake line\r\u001b[2J\u009b\u0000\u202edesrever\u2028\u0085z';
    log.info(evil, { evil, [evil]: evil, error: new Error(evil) });
    await kernel.close();
    const [entry = '', ...others] = (await lines()).filter((line) => line.includes('speaker'));
    expect(others).to.deep.equal([]);
    const shown = console.split('\n').filter((line) => line.includes('[speaker]'));
    expect(shown).to.have.length(1);
    for (const text of [entry, shown[0] ?? '']) {
      // oxlint-disable-next-line no-control-regex -- control characters are what this is about
      expect(text).to.not.match(/[\u0000-\u001f\u007f-\u009f\u2028-\u202e]/);
      expect(text).to.include('\\u001b[2J');
    }
    expect((JSON.parse(entry) as Entry)['evil']).to.equal(evil);
  });

  describe('on the console', () => {
    it('writes readable lines to the standard error stream', async () => {
      await start({ format: 'readable' });
      log.warn('Disk is slow', { path: 'a b', ms: 12, error: new OryxError('ORYX_INTERNAL', 'It broke.', { cause: new Error('why') }) });
      await kernel.close();
      expect(console).to.match(
        /^2026-11-30T00:00:00\.000Z WARN {2}\[speaker\] Disk is slow path="a b" ms=12 error="ORYX_INTERNAL: It broke\. <- Error: why \(at .*\)"$/m,
      );
    });

    it('writes JSON when that is asked for, and readable lines only where somebody looks', async () => {
      const terminal = Object.getOwnPropertyDescriptor(process.stderr, 'isTTY') ?? { value: undefined, configurable: true, writable: true };
      for (const [format, isTTY] of [
        ['json', true],
        ['auto', false],
        ['auto', true],
      ] as const) {
        Object.defineProperty(process.stderr, 'isTTY', { value: isTTY, configurable: true, writable: true });
        await start({ format });
        log.info('hello');
        await kernel.close();
      }
      Object.defineProperty(process.stderr, 'isTTY', terminal);
      const hellos = console.split('\n').filter((line) => line.includes('hello'));
      expect(hellos.map((line) => line.startsWith('{'))).to.deep.equal([true, true, false]);
    });

    it('is the only place when there is to be no file', async () => {
      await start({ format: 'json', file: false });
      log.info('hello');
      await kernel.close();
      expect(console).to.include('hello');
      expect(await readdir(root)).to.not.include('logs');
    });
  });

  describe('in the file', () => {
    it('loses nothing at the end', async () => {
      await start();
      for (let index = 0; index < 5_000; index += 1) log.info('line', { index });
      expect((await written()).map(({ index }) => index)).to.deep.equal(Array.from({ length: 5_000 }, (_, index) => index));
    });

    it('keeps the newest lines in so many files of so many bytes', async () => {
      await start({ maxBytes: 2_048, maxFiles: 3 });
      for (let index = 0; index < 200; index += 1) log.info('line', { index });
      await kernel.close();
      expect((await readdir(join(root, 'logs'))).sort()).to.deep.equal(['oryxos.1.log', 'oryxos.2.log', 'oryxos.log']);
      const indexes: unknown[] = [];
      for (const name of ['oryxos.2.log', 'oryxos.1.log', 'oryxos.log']) {
        expect((await stat(logFile(name))).size).to.be.within(1, 2_048);
        indexes.push(...(await lines(name)).map((line) => (JSON.parse(line) as Entry)['index']));
      }
      expect(indexes).to.deep.equal(Array.from({ length: indexes.length }, (_, index) => 200 - indexes.length + index));
      expect(indexes.length).to.be.greaterThan(30);
    });

    it('keeps a single file by beginning it anew', async () => {
      await start({ maxBytes: 2_048, maxFiles: 1 });
      for (let index = 0; index < 100; index += 1) log.info('line', { index });
      await kernel.close();
      expect(await readdir(join(root, 'logs'))).to.deep.equal(['oryxos.log']);
      expect((await lines()).at(-1)).to.include('"index":99');
    });

    it('goes on when somebody deletes it, or the whole directory', async () => {
      await start();
      log.info('first');
      await until('the first line', async () => (await lines().catch(() => [])).some((line) => line.includes('first')));
      await rm(logFile());
      log.info('second');
      await until('the second line', async () => (await lines().catch(() => [])).some((line) => line.includes('second')));
      await rm(join(root, 'logs'), { recursive: true });
      log.info('third');
      await until('the third line', async () => (await lines().catch(() => [])).some((line) => line.includes('third')));
    });

    it('is given up and taken up again, and nobody who logs notices', async () => {
      await writeFile(join(root, 'logs'), 'in the way');
      await start({ format: 'json' });
      for (const message of ['lost 1', 'lost 2']) {
        log.info(message);
        await until(message, () => console.includes(message));
      }
      await until('the report', () => console.includes('The log file cannot be written'));
      await rm(join(root, 'logs'));
      log.info('kept');
      await until('the line', async () => (await lines().catch(() => [])).some((line) => line.includes('kept')));
      await kernel.close();
      expect(console.match(/cannot be written/g)).to.have.length(1);
      expect(console).to.include('can be written again');
    });

    it('continues the file of an earlier start', async () => {
      for (const message of ['one', 'two']) {
        await start();
        log.info(message);
        await kernel.close();
      }
      expect((await written()).map(({ message }) => message)).to.deep.equal(['one', 'two']);
    });
  });
});

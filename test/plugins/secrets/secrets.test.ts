import { existsSync } from 'node:fs';
import { chmod, mkdtemp, readFile, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { createKernel, isOryxError, type KernelHost, systemClock } from '../../../kernel/index.ts';
import { isSecretName, type Secrets } from '../../../plugins/secrets/contract.ts';
import secretsPlugin from '../../../plugins/secrets/index.ts';
import storePlugin from '../../../plugins/store/index.ts';
import workspacePlugin from '../../../plugins/workspace/index.ts';
import { recordedLog, type RecordedLog } from '../logging/recorded-log.ts';

const PLACE = { table: 'providers', key: 'deepseek', column: 'api_key' };
const newKey = (): string => randomBytes(32).toString('base64');

describe('secrets', () => {
  let root: string;
  let kernel: KernelHost | undefined;
  let log: RecordedLog;

  const start = async (masterKey = ''): Promise<Secrets> => {
    await kernel?.close();
    kernel = createKernel({ clock: systemClock() });
    log = recordedLog();
    await kernel.load(log.plugin);
    await kernel.load(workspacePlugin, { root });
    const { error } = await kernel.load(secretsPlugin, { masterKey });
    if (error) throw error;
    return kernel.service('secrets');
  };
  const startRefused = async (masterKey = ''): Promise<string> => {
    const error: unknown = await start(masterKey).then(
      () => undefined,
      (error: unknown) => error,
    );
    if (!isOryxError(error)) throw new Error('the start was not refused', { cause: error });
    expect(error.code).to.equal('ORYX_SECRET_KEY');
    return error.message;
  };
  const codeOf = (work: () => unknown): string => {
    try {
      work();
    } catch (error) {
      return isOryxError(error) ? error.code : String(error);
    }
    return 'nothing was thrown';
  };
  const keyFile = (): string => join(root, 'master.key');

  beforeEach(async () => {
    root = await realpath(await mkdtemp(join(tmpdir(), 'oryxos-secrets-')));
  });
  afterEach(async () => {
    await kernel?.close();
    kernel = undefined;
    await rm(root, { recursive: true, force: true });
  });

  describe('sealing', () => {
    it('gives back what was sealed, in the documented form, differently each time', async () => {
      const secrets = await start();
      for (const plain of ['sk-abc', '', 'grüße 你好 🔑', 'x'.repeat(10_000)]) {
        const sealed = secrets.seal(plain, PLACE);
        expect(sealed).to.match(/^enc:v1:[0-9a-f]{8}:[A-Za-z0-9+/]{16}:[A-Za-z0-9+/]*={0,2}:[A-Za-z0-9+/]{22}==$/);
        expect(secrets.open(sealed, PLACE)).to.equal(plain);
        expect(secrets.seal(plain, PLACE)).to.not.equal(sealed);
      }
    });

    it('refuses a value at another table, row or column', async () => {
      const secrets = await start();
      const sealed = secrets.seal('sk-abcdef', PLACE);
      for (const change of [{ table: 'channels' }, { key: 'openai' }, { column: 'base_url' }]) {
        expect(codeOf(() => secrets.open(sealed, { ...PLACE, ...change }))).to.equal('ORYX_SECRET_KEY');
      }
    });

    it('refuses a value in which any part was changed, and shows none of it', async () => {
      const secrets = await start();
      const sealed = secrets.seal('sk-abcdefghijkl', PLACE);
      const [, , id = '', iv = '', text = '', tag = ''] = sealed.split(':');
      const flip = (part: string): string => (part.startsWith('A') ? 'B' : 'A') + part.slice(1);
      const damaged = [
        ['enc:v1', id, flip(iv), text, tag],
        ['enc:v1', id, iv, flip(text), tag],
        ['enc:v1', id, iv, text, flip(tag)],
        ['enc:v1', id, iv, text, `${tag.slice(0, 6)}==`],
        ['enc:v1', '00000000', iv, text, tag],
        ['enc:v1', id, iv, '', tag],
        ['enc:v2', id, iv, text, tag],
        ['enc:v1', ''],
        ['enc:v1', '%%%garbage%%%'],
        ['v1', id, iv, text, tag],
        [id, iv, text, tag],
      ].map((parts) => parts.join(':'));
      for (const value of damaged) {
        let message = '';
        try {
          secrets.open(value, PLACE);
        } catch (error) {
          expect(isOryxError(error) && error.code, value).to.equal('ORYX_SECRET_KEY');
          message = (error as Error).message;
        }
        expect(message, value).to.include('deepseek').and.include('Enter it again').and.not.include(text);
      }
    });

    it('returns a value that was never sealed as it is', async () => {
      const secrets = await start();
      for (const plain of ['sk-old-plain-text', '', 'a:b:c', 'encoded']) expect(secrets.open(plain, PLACE)).to.equal(plain);
    });

    it('refuses to seal what looks sealed', async () => {
      const secrets = await start();
      expect(codeOf(() => secrets.seal('enc:v1:abc', PLACE))).to.equal('ORYX_INVALID_INPUT');
    });

    it('opens after a restart what was sealed before', async () => {
      const sealed = (await start()).seal('sk-abcdef', PLACE);
      expect((await start()).open(sealed, PLACE)).to.equal('sk-abcdef');
    });
  });

  describe('the key', () => {
    it('is made at the first start, readable by its owner only', async () => {
      await start();
      expect((await stat(keyFile())).mode & 0o777).to.equal(0o600);
      expect(Buffer.from(await readFile(keyFile(), 'utf8'), 'base64')).to.have.length(32);
    });

    it('comes from the configuration when given, and then needs no file', async () => {
      const key = newKey();
      const sealed = (await start(key)).seal('sk-abcdef', PLACE);
      expect(existsSync(keyFile())).to.equal(false);
      expect((await start(key)).open(sealed, PLACE)).to.equal('sk-abcdef');
    });

    it('must be 32 bytes of base64; the message does not repeat it', async () => {
      for (const key of ['short', 'x'.repeat(44), newKey().slice(4)]) {
        expect(await startRefused(key))
          .to.include('ORYXOS_MASTER_KEY')
          .and.include('openssl rand -base64 32')
          .and.not.include(key);
      }
      await writeFile(keyFile(), 'not a key');
      expect(await startRefused())
        .to.include('master.key')
        .and.not.include('not a key');
      await writeFile(keyFile(), '\n');
      expect(await startRefused()).to.include('master.key is empty');
    });

    it('when it is missing though it has sealed something, stops the start with the way out, and no new one is made', async () => {
      (await start()).seal('sk-abcdef', PLACE);
      await rm(keyFile());
      expect(await startRefused())
        .to.include('master.key')
        .and.include('ORYXOS_MASTER_KEY')
        .and.include('lost for good');
      expect(existsSync(keyFile())).to.equal(false);
    });

    it('when it is another than the one that has sealed something, stops the start', async () => {
      (await start()).seal('sk-abcdef', PLACE);
      await rm(keyFile());
      expect(await startRefused(newKey())).to.include('which is missing');
      await writeFile(keyFile(), newKey());
      expect(await startRefused()).to.include('which is missing');
    });

    it('when it is missing beside a database that came with sealed values, stops the start', async () => {
      const sealed = (await start()).seal('sk-abcdef', PLACE);
      const key = await readFile(keyFile(), 'utf8');
      await kernel?.load(storePlugin, {});
      const store = kernel?.service('store');
      await store?.migrate('x', [{ name: '001', up: ['CREATE TABLE x (secret TEXT)'] }]);
      await store?.write({ sql: 'INSERT INTO x VALUES (?)', params: [sealed] });
      await kernel?.close();
      for (const name of ['master.key', 'master.key.id']) await rm(join(root, name));

      expect(await startRefused()).to.include('the database holds secrets');
      expect(existsSync(keyFile())).to.equal(false);
      await writeFile(keyFile(), key, { mode: 0o600 });
      expect((await start()).open(sealed, PLACE)).to.equal('sk-abcdef');
    });

    it('may be missing when nothing was ever sealed', async () => {
      await start();
      await rm(keyFile());
      await start();
      expect(existsSync(keyFile())).to.equal(true);
    });

    it('that is lost for good can be given up in the way that the message tells', async () => {
      const old = (await start()).seal('sk-abcdef', PLACE);
      await rm(keyFile());
      await startRefused();
      await rm(join(root, 'master.key.id'));
      await writeFile(keyFile(), newKey(), { mode: 0o600 });
      const secrets = await start();
      expect(codeOf(() => secrets.open(old, PLACE))).to.equal('ORYX_SECRET_KEY');
      expect(secrets.open(secrets.seal('new', PLACE), PLACE)).to.equal('new');
    });

    it('may have successors: the first seals, all open', async () => {
      const old = (await start()).seal('sk-abcdef', PLACE);
      await writeFile(keyFile(), `${newKey()}\n${await readFile(keyFile(), 'utf8')}`);
      const secrets = await start();
      expect(secrets.open(old, PLACE)).to.equal('sk-abcdef');
      expect(secrets.seal('x', PLACE).split(':')[2]).to.not.equal(old.split(':')[2]);
    });

    it('that others can read is reported', async () => {
      await start();
      await chmod(keyFile(), 0o644);
      await start();
      expect(log.lines.filter(({ level }) => level === 'warn').map(({ fields }) => fields['repair'])).to.deep.equal([
        'chmod 600 master.key',
      ]);
    });
  });

  describe('in sight', () => {
    it('hides what was sealed, opened or remembered', async () => {
      const secrets = await start();
      const sealed = secrets.seal('correct-horse', PLACE);
      expect(secrets.mask('it is correct-horse')).to.equal('it is corr****');
      const others = await start();
      expect(others.mask('it is correct-horse')).to.equal('it is correct-horse');
      others.open(sealed, PLACE);
      expect(others.mask('it is correct-horse')).to.equal('it is corr****');
      const forget = others.remember('battery-staple');
      expect(others.mask('battery-staple')).to.equal('batt****');
      forget();
      expect(others.mask('battery-staple')).to.equal('battery-staple');
    });

    it('hides the master key', async () => {
      const key = newKey();
      expect((await start(key)).mask(`key is ${key}`)).to.equal(`key is ${key.slice(0, 4)}****`);
    });

    it('hints with the last four characters', async () => {
      const secrets = await start();
      expect(['sk-abc9876', 'abcd', 'a', '', null, undefined].map((secret) => secrets.hint(secret))).to.deep.equal([
        '****9876',
        '****',
        '****',
        null,
        null,
        null,
      ]);
    });

    it('knows names of secret fields', () => {
      for (const name of ['password', 'client_secret', 'apiKey', 'X-Api-Key', 'accessToken', 'db.passwd', 'encrypt_key'])
        expect(isSecretName(name), name).to.equal(true);
      for (const name of ['max_tokens', 'key', 'schedule_key', 'tokenizer', 'passwordless', ''])
        expect(isSecretName(name), name).to.equal(false);
    });
  });
});

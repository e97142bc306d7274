import { closeSync, createReadStream, fsyncSync, openSync, writeSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { randomBytes } from 'node:crypto';
import { type Logger, OryxError } from '../../kernel/index.ts';
import type { Workspace } from '../workspace/contract.ts';
import { type MasterKey, masterKey, parseMasterKey } from './master-key.ts';

const KEY_FILE = 'master.key';
/** One key id a line: the keys that have sealed something here. Without it a lost or wrong key would go unnoticed until a secret is needed. */
const USED_FILE = 'master.key.id';
const CIPHERTEXT = /enc:v1:[0-9a-f]{8}:/;

const WAY_OUT =
  `Put ${KEY_FILE} back from your copy, or set ORYXOS_MASTER_KEY. If the key is lost for good: delete ${USED_FILE}, write a new key into ` +
  `${KEY_FILE} (openssl rand -base64 32), start again, and enter the secrets anew.`;

/** The keys of a workspace. */
export interface Keys {
  /** The first one seals, all of them open. */
  readonly all: readonly [MasterKey, ...MasterKey[]];
  /** Makes durable that the first key has sealed something; cheap after the first time. Throws when that cannot be written. */
  markUsed(): void;
}

/**
 * Finds the keys: `configured` (ORYXOS_MASTER_KEY) first, then the lines of `<root>/master.key`. Without any a key file is made, but never
 * when the workspace holds values that another key has sealed.
 *
 * @throws ORYX_SECRET_KEY, with the way out, when a key is malformed or one that has sealed something here is missing
 */
export async function loadKeys(workspace: Workspace, configured: string, log: Logger): Promise<Keys> {
  const fromConfiguration = configured === '' ? [] : [parseMasterKey(configured.trim(), 'ORYXOS_MASTER_KEY')];
  const found = [...fromConfiguration, ...(await keysInFile(workspace, log))];
  const used = new Set((await linesOf(workspace.path(USED_FILE)))?.filter((line) => /^[0-9a-f]{8}$/.test(line)));
  const missing = [...used].filter((id) => !found.some((key) => key.id === id));
  if (missing.length > 0) {
    throw new OryxError(
      'ORYX_SECRET_KEY',
      `Secrets of this workspace were sealed with key ${missing.join(', ')}, which is missing. ${WAY_OUT}`,
    );
  }
  const [first = await createKey(workspace, log), ...more] = found;
  return {
    all: [first, ...more],
    markUsed() {
      if (used.has(first.id)) return;
      appendDurably(workspace.path(USED_FILE), `${first.id}\n`);
      used.add(first.id);
    },
  };
}

async function keysInFile(workspace: Workspace, log: Logger): Promise<readonly MasterKey[]> {
  const lines = await linesOf(workspace.path(KEY_FILE));
  if (lines === undefined) return [];
  const { mode } = await stat(workspace.path(KEY_FILE));
  if ((mode & 0o077) !== 0)
    log.warn('The key file can be read by other users of this machine', { file: KEY_FILE, repair: `chmod 600 ${KEY_FILE}` });
  if (lines.length === 0) throw new OryxError('ORYX_SECRET_KEY', `${KEY_FILE} is empty. ${WAY_OUT}`);
  return lines.map((line) => parseMasterKey(line, KEY_FILE));
}

async function createKey(workspace: Workspace, log: Logger): Promise<MasterKey> {
  if (await holdsCiphertext(workspace)) {
    throw new OryxError('ORYX_SECRET_KEY', `${KEY_FILE} is missing, and the database holds secrets that were sealed with it. ${WAY_OUT}`);
  }
  const bytes = randomBytes(32);
  const created = await workspace.createFile(workspace.path(KEY_FILE), `${bytes.toString('base64')}\n`, { mode: 0o600 });
  if (!created) throw new OryxError('ORYX_SECRET_KEY', `${KEY_FILE} was created by another process meanwhile; start again.`);
  log.info('Key file created', { file: KEY_FILE });
  return masterKey(bytes);
}

/**
 * Looks at the bytes of the database, which a backup may have brought here without its key. Only done when there is no key, so at a first
 * start, when there is no database either.
 */
async function holdsCiphertext(workspace: Workspace): Promise<boolean> {
  for (const name of ['oryxos.db', 'oryxos.db-wal']) {
    if (await contains(workspace.path(name), CIPHERTEXT)) return true;
  }
  return false;
}

async function contains(file: string, pattern: RegExp): Promise<boolean> {
  let tail = '';
  try {
    for await (const chunk of createReadStream(file, { encoding: 'latin1', highWaterMark: 1 << 20 })) {
      const text = tail + String(chunk);
      if (pattern.test(text)) return true;
      tail = text.slice(-32);
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  return false;
}

async function linesOf(file: string): Promise<readonly string[] | undefined> {
  try {
    return (await readFile(file, 'utf8'))
      .split('\n')
      .map((line) => line.trim())
      .filter(Boolean);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Synchronous, because sealing is: it happens once in the life of a key. */
function appendDurably(file: string, text: string): void {
  const handle = openSync(file, 'a', 0o600);
  try {
    writeSync(handle, text);
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

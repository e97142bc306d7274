/** What the `config` of a request does to a channel's configuration. */
import { invalidInput } from '../../kernel/index.ts';
import { headerProblem } from '../outside/contract.ts';
import type { Secrets } from '../secrets/contract.ts';
import { isMap, secretPlace, storedConfig } from './channel-config.ts';
import type { ConfigMap, ConfigNode } from './channel-config.ts';
import { repeatedHeader } from './channel-headers.ts';
import { isChannelSecretName } from './channel-secret-name.ts';

const MASK = '****';
const MAX_TEXT_CHARS = 4096;
const MAX_ITEMS = 100;
const MAX_DEPTH = 3;
const MAX_CONFIG_CHARS = 16 * 1024;
const KEY = /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/;
const MAX_RATE = 1_000_000;

type Path = readonly string[];
type Sent = Readonly<Record<string, unknown>>;

/**
 * The configuration after a request. What is absent is kept and `null` removes, key by key and also inside a map; of a secret, a blank and the
 * mask that was shown are kept as well. Throws ORYX_INVALID_INPUT that names the key for what cannot stand there.
 */
export function changedConfig(channel: string, before: ConfigMap, sent: Sent | null | undefined, secrets: Secrets): ConfigMap {
  if (sent === undefined) return before;
  if (sent === null) return new Map();
  const after = changedMap(before, sent, [], { channel, secrets });
  checkRate(after.get('rate_per_minute'));
  const headers = after.get('headers');
  if (headers !== undefined && headers.kind !== 'map') throw invalidInput('config.headers must be a map of names and texts.');
  const repeated = headers === undefined ? undefined : repeatedHeader(headers.map.keys());
  if (repeated !== undefined) throw invalidInput(`config.headers: ${repeated} is there twice; names differ by more than case.`);
  if (storedConfig(after).length > MAX_CONFIG_CHARS) throw invalidInput(`config must not be longer than ${MAX_CONFIG_CHARS} characters.`);
  return after;
}

interface Place {
  readonly channel: string;
  readonly secrets: Secrets;
}

function changedMap(before: ConfigMap, sent: Sent, path: Path, place: Place): ConfigMap {
  const after = new Map(before);
  for (const [key, value] of Object.entries(sent)) {
    const at = [...path, key];
    if (value === null) {
      after.delete(key);
      continue;
    }
    if (!isHeader(at) && !KEY.test(key)) {
      throw invalidInput(`${nameOf(path)} must have keys of 1 to 64 letters, digits, "_", "." and "-" that begin with a letter.`);
    }
    const node = changedNode(before.get(key), value, at, place);
    if (node !== undefined) after.set(key, node);
  }
  return after;
}

/** Undefined: there is nothing, and nothing was sent. */
function changedNode(before: ConfigNode | undefined, value: unknown, path: Path, place: Place): ConfigNode | undefined {
  const name = nameOf(path);
  if (isHeader(path)) {
    const problem = typeof value === 'string' ? headerProblem(path.at(-1) ?? '', value.trim()) : 'must be text';
    if (problem !== undefined) throw invalidInput(`${name} ${problem}.`);
  }
  if (isChannelSecretName(path.at(-1) ?? '')) return changedSecret(before, value, path, place);
  if (isMap(value)) {
    if (path.length >= MAX_DEPTH) throw invalidInput(`${name} is nested too deeply.`);
    return { kind: 'map', map: changedMap(before?.kind === 'map' ? before.map : new Map(), value, path, place) };
  }
  if (!Array.isArray(value)) return { kind: 'plain', value: scalar(value, name) };
  if (value.length > MAX_ITEMS) throw invalidInput(`${name} must not have more than ${MAX_ITEMS} items.`);
  return { kind: 'plain', value: value.map((item) => scalar(item, name)) };
}

function changedSecret(before: ConfigNode | undefined, value: unknown, path: Path, { channel, secrets }: Place): ConfigNode | undefined {
  const name = nameOf(path);
  if (typeof value !== 'string') throw invalidInput(`${name} must be text.`);
  const text = value.trim();
  const old = before?.kind === 'secret' ? before : undefined;
  if (text === '') return old;
  if (old !== undefined && (text === MASK || (old.value !== undefined && text === secrets.hint(old.value)))) return old;
  if (text.startsWith(MASK)) throw invalidInput(`${name} looks like a mask, but not like that of the stored value: send the whole value.`);
  // oxlint-disable-next-line no-control-regex -- none of them can be part of a key that people copy
  if (/[\u0000-\u001f\u007f]/.test(text)) throw invalidInput(`${name} must not contain line breaks or control characters.`);
  const plain = scalar(text, name) as string;
  return { kind: 'secret', value: plain, sealed: secrets.seal(plain, secretPlace(channel, path)) };
}

function scalar(value: unknown, name: string): string | number | boolean {
  if (typeof value === 'boolean') return value;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  if (typeof value !== 'string') throw invalidInput(`${name} must be text, a number, true or false, a list of these, or a map.`);
  if (value.length > MAX_TEXT_CHARS) throw invalidInput(`${name} must not be longer than ${MAX_TEXT_CHARS} characters.`);
  if (/^enc:v\d+:/.test(value)) throw invalidInput(`${name} must be the value itself, not an encrypted one.`);
  return value;
}

function checkRate(node: ConfigNode | undefined): void {
  if (node === undefined) return;
  const rate = node.kind === 'plain' ? node.value : undefined;
  if (typeof rate === 'number' && rate > 0 && rate <= MAX_RATE) return;
  throw invalidInput(`config.rate_per_minute must be a number above 0, at most ${MAX_RATE}.`);
}

const isHeader = (path: Path): boolean => path.length === 2 && path[0] === 'headers';
const nameOf = (path: Path): string => ['config', ...path].join('.');

/** What is configured for a channel: as stored, as shown, and in clear. */
import { isOryxError, OryxError } from '../../kernel/index.ts';
import type { SecretPlace, Secrets } from '../secrets/contract.ts';
import { isChannelSecretName } from './channel-secret-name.ts';

const MASK = '****';
const SEALED_PREFIX = 'enc:v1:';

type Scalar = string | number | boolean;

/** One setting. A secret whose `value` is undefined is there, but nobody can read it. */
export type ConfigNode =
  | { readonly kind: 'plain'; readonly value: Scalar | readonly Scalar[] }
  | { readonly kind: 'secret'; readonly sealed: string; readonly value: string | undefined }
  | { readonly kind: 'map'; readonly map: ConfigMap };

/** Settings by key, in the order in which they were given. */
export type ConfigMap = ReadonlyMap<string, ConfigNode>;

/** A secret of a configuration, with its key path. */
export interface ConfigSecret {
  readonly path: string;
  readonly node: ConfigNode & { readonly kind: 'secret' };
}

/** Where the secret of that key path is stored. */
export const secretPlace = (channel: string, path: readonly string[]): SecretPlace => ({
  table: 'notify_channels',
  key: channel,
  column: `config.${path.join('.')}`,
});

/** Reads what `storedConfig` wrote. A secret that stands in plain text is read as it is; one that cannot be decrypted disables sending, not the server. */
export function readConfig(channel: string, stored: string, secrets: Secrets): ConfigMap {
  const read = (value: unknown, path: readonly string[]): ConfigNode => {
    if (isMap(value)) return { kind: 'map', map: readMap(value, path) };
    const isSealed = typeof value === 'string' && value.startsWith(SEALED_PREFIX);
    if (isSealed || (isChannelSecretName(path.at(-1) ?? '') && !Array.isArray(value))) {
      const sealed = String(value);
      return { kind: 'secret', sealed, value: opened(sealed, secretPlace(channel, path), secrets) };
    }
    return { kind: 'plain', value: value as Scalar | readonly Scalar[] };
  };
  const readMap = (map: Readonly<Record<string, unknown>>, path: readonly string[]): ConfigMap =>
    new Map(Object.entries(map).map(([key, value]) => [key, read(value, [...path, key])] as const));
  const parsed: unknown = JSON.parse(stored);
  return isMap(parsed) ? readMap(parsed, []) : new Map();
}

/** The same with every secret encrypted that stands in plain text. */
export function sealedConfig(channel: string, config: ConfigMap, secrets: Secrets, path: readonly string[] = []): ConfigMap {
  const sealed = ([key, node]: readonly [string, ConfigNode]): readonly [string, ConfigNode] => {
    const at = [...path, key];
    if (node.kind === 'map') return [key, { kind: 'map', map: sealedConfig(channel, node.map, secrets, at) }];
    if (node.kind === 'plain' || node.value !== node.sealed) return [key, node];
    return [key, { ...node, sealed: secrets.seal(node.value, secretPlace(channel, at)) }];
  };
  return new Map([...config].map(sealed));
}

/** As the table keeps it: JSON with sealed secrets. */
export const storedConfig = (config: ConfigMap): string => JSON.stringify(plainObject(config, ({ sealed }) => sealed));

/** As clients see it: each secret is its mask. */
export const shownConfig = (config: ConfigMap, secrets: Secrets): Readonly<Record<string, unknown>> =>
  plainObject(config, ({ value }) => (value === undefined ? MASK : secrets.hint(value)));

/** With secrets in clear; those that cannot be read are left out. */
export const readableConfig = (config: ConfigMap): Readonly<Record<string, unknown>> => plainObject(config, ({ value }) => value);

/** With secrets in clear. Throws ORYX_SECRET_KEY, naming the key, when one cannot be read. */
export function clearConfig(channel: string, config: ConfigMap): Readonly<Record<string, unknown>> {
  const damaged = secretsIn(config).find(({ node }) => node.value === undefined);
  if (damaged === undefined) return readableConfig(config);
  throw new OryxError('ORYX_SECRET_KEY', `The stored ${damaged.path} of notify channel "${channel}" cannot be decrypted: send it again.`);
}

/** All secrets of a configuration. */
export function secretsIn(config: ConfigMap, path = 'config'): readonly ConfigSecret[] {
  return [...config].flatMap(([key, node]): readonly ConfigSecret[] => {
    if (node.kind === 'map') return secretsIn(node.map, `${path}.${key}`);
    return node.kind === 'secret' ? [{ path: `${path}.${key}`, node }] : [];
  });
}

/** A JSON object, as opposed to a list or a single value. */
export const isMap = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function plainObject(
  config: ConfigMap,
  textOf: (secret: ConfigSecret['node']) => string | null | undefined,
): Readonly<Record<string, unknown>> {
  const entries = [...config].map(([key, node]): readonly [string, unknown] => {
    if (node.kind === 'map') return [key, plainObject(node.map, textOf)];
    return [key, node.kind === 'secret' ? textOf(node) : node.value];
  });
  return Object.freeze(Object.fromEntries(entries.filter(([, value]) => value !== undefined)));
}

function opened(sealed: string, place: SecretPlace, secrets: Secrets): string | undefined {
  try {
    return secrets.open(sealed, place);
  } catch (error) {
    if (!isOryxError(error) || error.code !== 'ORYX_SECRET_KEY') throw error;
    return undefined;
  }
}

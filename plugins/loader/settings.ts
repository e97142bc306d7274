/** The configuration as people may see it. */
import { isSecretName, type Secrets } from '../secrets/contract.ts';
import type { Configuration } from './configuration.ts';
import type { SettingView } from './contract.ts';

/** Every setting with its origin; values under names of secrets are reduced to a hint, secrets inside other texts are masked. */
export function settingsOf(configuration: Configuration, secrets: Pick<Secrets, 'mask' | 'hint'>): readonly SettingView[] {
  return [...configuration.values()].map(([key, { value, origin }]) => ({
    key,
    value: shown(value ?? null, key.slice(key.lastIndexOf('.') + 1), secrets),
    origin,
  }));
}

function shown(value: unknown, name: string, secrets: Pick<Secrets, 'mask' | 'hint'>): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => shown(item, name, secrets));
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, item]: [string, unknown]) => [key, shown(item, key, secrets)]));
  if (isSecretName(name) && (typeof value === 'string' || typeof value === 'number')) return secrets.hint(String(value));
  return typeof value === 'string' ? secrets.mask(value) : value;
}

/** Providers that the configuration brings along. */
import type { Logger } from '../../kernel/index.ts';
import { invalidInput, isOryxError } from '../../kernel/index.ts';
import type { RegisteredHttp } from '../outside/contract.ts';
import type { Secrets } from '../secrets/contract.ts';
import { checkedBaseUrl } from './base-url.ts';
import { keyChange, sealedKey } from './provider-key.ts';
import { checkedName } from './provider-name.ts';
import type { ProviderRepository, ProviderRow } from './provider-repository.ts';

/** One entry of `oryxos.providers`. */
export interface Seed {
  readonly name: string;
  readonly apiKey?: string | null;
  readonly baseUrl?: string | null;
  readonly description?: string | null;
}

interface SeedParts {
  readonly repository: ProviderRepository;
  readonly secrets: Secrets;
  readonly http: Pick<RegisteredHttp, 'refusal'>;
  readonly log: Logger;
}

/**
 * Adds each entry once in the life of the database: an entry that was added, or whose name was in use, at an earlier start is passed over,
 * so what an administrator changed or deleted stays so. An invalid entry is skipped with a warning and looked at again at the next start.
 *
 * @param at  epoch milliseconds
 */
export async function seedProviders(seeds: readonly Seed[], { repository, secrets, http, log }: SeedParts, at: number): Promise<void> {
  const known = await repository.seeded();
  for (const seed of seeds) {
    if (known.has(seed.name)) continue;
    try {
      await repository.seed(rowOf(seed, secrets, http), at);
    } catch (error) {
      if (!isOryxError(error) || error.code !== 'ORYX_INVALID_INPUT') throw error;
      log.warn('a provider of the configuration is skipped', { provider: seed.name, reason: error.message });
    }
  }
}

function rowOf({ name, apiKey, baseUrl, description }: Seed, secrets: Secrets, http: Pick<RegisteredHttp, 'refusal'>): ProviderRow {
  checkedName(name);
  const base_url = checkedBaseUrl(name, baseUrl, http);
  return { name, api_key: sealedSeedKey(name, apiKey, secrets), base_url, description: description?.trim() || null };
}

/** No key at all is a choice; one that came out empty is an environment variable that is not set. */
function sealedSeedKey(name: string, apiKey: string | null | undefined, secrets: Secrets): string | null {
  if (apiKey === null || apiKey === undefined || name === 'mock') return null;
  if (apiKey.trim() === '' || apiKey.includes('${')) {
    throw invalidInput('api-key is empty or not replaced: set its environment variable, or leave api-key out for a server that needs none');
  }
  const change = keyChange(apiKey, { kind: 'none' }, secrets);
  return change.kind === 'set' ? sealedKey(name, change.value, secrets) : null;
}

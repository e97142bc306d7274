/** All providers: as stored, as shown and as callable. */
import type { Context, Provider, Registration } from '../../kernel/index.ts';
import { conflict, invalidInput, isOryxError, messageOf, notFound } from '../../kernel/index.ts';
import type { Outside } from '../outside/contract.ts';
import type { Secrets } from '../secrets/contract.ts';
import { checkedBaseUrl, hostOf, isSameReceiver } from './base-url.ts';
import type { ProviderView } from './contract.ts';
import { connectedProvider, disabledProvider } from './provider.ts';
import type { ProviderParts } from './provider.ts';
import type { KeyChange, ProviderKey } from './provider-key.ts';
import { keyChange, openedKey, sealedKey, shownKey } from './provider-key.ts';
import { checkedName } from './provider-name.ts';
import type { ProviderRepository, ProviderRow } from './provider-repository.ts';

const MAX_DESCRIPTION_CHARS = 2_000;

/** What a client sends; see `keyChange` and `checkedBaseUrl` for what may be left out. */
export interface ProviderInput {
  readonly apiKey?: string | null;
  readonly baseUrl?: string | null;
  readonly description?: string | null;
}

interface Entry {
  readonly row: ProviderRow;
  readonly key: ProviderKey;
  readonly provider: Provider;
  /** Missing when another plugin owns the name. */
  readonly registration: Registration<Provider> | undefined;
}

interface BookParts extends Omit<ProviderParts, 'adapter' | 'http'> {
  readonly repository: ProviderRepository;
  readonly secrets: Secrets;
  readonly outside: Pick<Outside, 'registered'>;
  readonly revealApiKeys: () => boolean;
}

/** The providers in memory follow the table: every change is stored first. */
export class ProviderBook {
  readonly #ctx: Context;
  readonly #parts: BookParts;
  readonly #entries = new Map<string, Entry>();

  constructor(ctx: Context, parts: BookParts) {
    this.#ctx = ctx;
    this.#parts = parts;
  }

  /** Takes up stored providers that it does not have; keys that an older program left in plain text are encrypted. One bad row never stops the others. */
  async load(): Promise<void> {
    const rows = await this.#parts.repository.all();
    for (const row of rows) if (!this.#entries.has(row.name)) this.#put(await this.#encrypted(row));
  }

  /** All providers by name, as clients see them. */
  list(): readonly ProviderView[] {
    return [...this.#entries.keys()].sort().map((name) => this.view(name));
  }

  /** Throws ORYX_NOT_FOUND. */
  view(name: string): ProviderView {
    const { row, key } = this.#entry(name);
    const { revealApiKeys, secrets } = this.#parts;
    return { name, apiKey: shownKey(key, revealApiKeys(), secrets), baseUrl: row.base_url, description: row.description };
  }

  /** The callable provider. Throws ORYX_NOT_FOUND. */
  provider(name: string): Provider {
    return this.#entry(name).provider;
  }

  /** Names of providers that can be called and are not the built-in one, sorted. */
  usable(): readonly string[] {
    const usable = [...this.#entries.values()].filter(({ row, key }) => row.name !== 'mock' && key.kind !== 'damaged');
    return usable.map(({ row }) => row.name).sort();
  }

  /** Throws ORYX_INVALID_INPUT for a bad field or a name in use. */
  async create(name: string, input: ProviderInput): Promise<ProviderView> {
    const { repository, secrets, outside } = this.#parts;
    checkedName(name);
    const taken = invalidInput(`Provider "${name}" exists already: change it with PUT, or choose another name.`);
    if (this.#entries.has(name) || this.#ctx.registry('provider').get(name) !== undefined) throw taken;
    const change = keyChange(input.apiKey, { kind: 'none' }, secrets);
    const row: ProviderRow = {
      name,
      base_url: checkedBaseUrl(name, input.baseUrl, outside.registered),
      description: checkedDescription(input.description),
      api_key: change.kind === 'set' ? sealedKey(name, change.value, secrets) : null,
    };
    await repository.add(row, this.#ctx.clock.now()).catch((error: unknown) => {
      throw isOryxError(error) && error.code === 'ORYX_STORE_CONSTRAINT' ? taken : error;
    });
    this.#put(row);
    this.#ctx.log.info('provider added', { provider: name, host: hostOf(row.base_url) });
    return this.view(name);
  }

  /**
   * Changes what `input` holds and keeps the rest. Throws ORYX_NOT_FOUND, ORYX_INVALID_INPUT (also for a kept key and another host), and
   * ORYX_CONFLICT when somebody else changed the provider at the same moment.
   */
  async update(name: string, input: ProviderInput): Promise<ProviderView> {
    const { repository, secrets, outside } = this.#parts;
    const { row: before, key } = this.#entry(name);
    const change = keyChange(input.apiKey, key, secrets);
    const base_url = input.baseUrl === undefined ? before.base_url : checkedBaseUrl(name, input.baseUrl, outside.registered);
    if (change.kind === 'keep' && key.kind !== 'none' && !isSameReceiver(before.base_url, base_url)) {
      throw invalidInput(`baseUrl leads to another host than the one the stored API key of "${name}" was given for: send the key again.`);
    }
    const description = input.description === undefined ? before.description : checkedDescription(input.description);
    const after: ProviderRow = { name, base_url, description, api_key: this.#storedKey(before, change) };
    await repository.update(before, after, this.#ctx.clock.now()).catch((error: unknown) => {
      throw isConflict(error) ? conflict(`Provider "${name}" was changed by somebody else just now: look at it and try again.`) : error;
    });
    this.#put(after);
    if (hostOf(before.base_url) !== hostOf(base_url)) {
      this.#ctx.log.warn('the host of a provider was changed', { provider: name, from: hostOf(before.base_url), to: hostOf(base_url) });
    }
    return this.view(name);
  }

  /** Throws ORYX_NOT_FOUND, and ORYX_INVALID_INPUT for the built-in provider. */
  async remove(name: string): Promise<void> {
    this.#entry(name);
    if (name === 'mock') throw invalidInput('Provider "mock" is built in and cannot be deleted.');
    await this.#parts.repository.remove(name).catch((error: unknown) => {
      throw isConflict(error) ? notFound(`Provider "${name}" does not exist.`) : error;
    });
    const entry = this.#entries.get(name);
    this.#entries.delete(name);
    await entry?.registration?.();
    this.#ctx.log.info('provider deleted', { provider: name });
  }

  #entry(name: string): Entry {
    const entry = this.#entries.get(name);
    if (entry === undefined) throw notFound(`Provider "${name}" does not exist.`);
    return entry;
  }

  #storedKey(before: ProviderRow, change: KeyChange): string | null {
    if (change.kind === 'keep') return before.api_key;
    return change.kind === 'set' ? sealedKey(before.name, change.value, this.#parts.secrets) : null;
  }

  async #encrypted(row: ProviderRow): Promise<ProviderRow> {
    const { repository, secrets } = this.#parts;
    const key = openedKey(row.name, row.api_key, secrets);
    if (key.kind !== 'known' || key.value !== row.api_key) return row;
    const sealed = { ...row, api_key: sealedKey(row.name, key.value, secrets) };
    await repository.update(row, sealed, this.#ctx.clock.now());
    this.#ctx.log.info('a provider key that stood in plain text was encrypted', { provider: row.name });
    return sealed;
  }

  /** Brings one provider in memory to what is stored. The callable object stays as long as key and URL do, and its connections with it. */
  #put(row: ProviderRow): void {
    const { secrets } = this.#parts;
    const old = this.#entries.get(row.name);
    const key = openedKey(row.name, row.api_key, secrets);
    if (key.kind === 'known') this.#ctx.own(`masked key of ${row.name}`, secrets.remember(key.value));
    if (key.kind === 'damaged') this.#ctx.log.warn('a provider is disabled', { provider: row.name, reason: key.reason });
    if (old !== undefined && isSameCallable(old, row, key)) {
      this.#entries.set(row.name, { ...old, row, key });
      return;
    }
    const provider = this.#callable(row, key);
    old?.registration?.replace(provider);
    const registration = old === undefined ? this.#register(provider) : old.registration;
    this.#entries.set(row.name, { row, key, provider, registration });
  }

  #callable({ name, base_url }: ProviderRow, key: ProviderKey): Provider {
    if (key.kind === 'damaged') return disabledProvider(name, key.reason);
    const { secrets, outside, chat, models } = this.#parts;
    const adapters = this.#ctx.registry('providerAdapter');
    const settings = {
      name,
      apiKey: key.kind === 'known' ? key.value : undefined,
      baseUrl: base_url ?? undefined,
      mask: (text: string) => secrets.mask(text),
    };
    const adapter = () => adapters.get(name === 'mock' ? 'mock' : 'openai');
    return connectedProvider(settings, { adapter, http: outside.registered, chat, models });
  }

  #register(provider: Provider): Registration<Provider> | undefined {
    try {
      return this.#ctx.register('provider', provider);
    } catch (error) {
      if (!isOryxError(error) || error.code !== 'ORYX_NAME_TAKEN') throw error;
      this.#ctx.log.warn('a provider is disabled', { provider: provider.name, reason: messageOf(error) });
      return undefined;
    }
  }
}

const isConflict = (error: unknown): boolean => isOryxError(error) && error.code === 'ORYX_STORE_CONFLICT';

function isSameCallable(old: Entry, row: ProviderRow, key: ProviderKey): boolean {
  if (old.row.base_url !== row.base_url || old.key.kind !== key.kind) return false;
  return old.key.kind !== 'known' || key.kind !== 'known' || old.key.value === key.value;
}

function checkedDescription(sent: string | null | undefined): string | null {
  const description = sent?.trim() ?? '';
  if (description.length > MAX_DESCRIPTION_CHARS)
    throw invalidInput(`description must not be longer than ${MAX_DESCRIPTION_CHARS} characters.`);
  return description === '' ? null : description;
}

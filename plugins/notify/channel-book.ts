/** All channels: as stored, as shown, and as targets of messages. */
import type { Context } from '../../kernel/index.ts';
import { conflict, invalidInput, isOryxError, notFound } from '../../kernel/index.ts';
import type { Outside } from '../outside/contract.ts';
import { checkedName } from '../providers/contract.ts';
import type { Secrets } from '../secrets/contract.ts';
import { clearConfig, readConfig, sealedConfig, secretsIn, shownConfig, storedConfig } from './channel-config.ts';
import { type ChannelDraft, channelDraft, type ChannelInput, type KnownChannel } from './channel-draft.ts';
import type { ChannelRepository, ChannelRow } from './channel-repository.ts';
import { hostOf, keysInUrl } from './channel-url.ts';
import type { NotifyChannel, NotifyChannels } from './contract.ts';

/** A channel as the API shows it; secrets are masked. */
export interface ChannelView {
  readonly name: string;
  readonly type: string;
  readonly url: string;
  readonly description: string | null;
  readonly config: Readonly<Record<string, unknown>>;
}

interface BookParts {
  readonly repository: ChannelRepository;
  readonly secrets: Secrets;
  readonly outside: Pick<Outside, 'registered'>;
}

type BookContext = Pick<Context, 'clock' | 'log' | 'own' | 'registry'>;

/** The channels in memory follow the table: every change is stored first. Oldest first. */
export class ChannelBook implements NotifyChannels {
  readonly #ctx: BookContext;
  readonly #parts: BookParts;
  readonly #entries = new Map<string, KnownChannel>();
  readonly #listeners = new Set<(name: string) => void>();
  readonly #hidden = new Set<string>();
  #marked: string | undefined;

  constructor(ctx: BookContext, parts: BookParts) {
    this.#ctx = ctx;
    this.#parts = parts;
  }

  /** Takes up every stored channel; secrets that stand in plain text are encrypted. One that cannot be read disables its channel only. */
  async load(): Promise<void> {
    for (const { is_default, ...row } of await this.#parts.repository.all()) {
      if (is_default === 1) this.#marked = row.name;
      await this.#load(row);
    }
  }

  /** Warns about each channel that no message can be sent to. */
  warnAboutUnusable(): void {
    const { log } = this.#ctx;
    const adapters = this.#ctx.registry('notifyAdapter');
    for (const { row, config } of this.#entries.values()) {
      const { name: channel, type } = row;
      const keys = secretsIn(config).flatMap(({ path, node }) => (node.value === undefined ? [path] : []));
      if (keys.length > 0)
        log.warn('a notify channel cannot be used: secrets of it cannot be decrypted, send them again', { channel, keys });
      if (adapters.get(type) === undefined)
        log.warn('a notify channel cannot be used: no adapter of its type is loaded', { channel, type });
    }
  }

  list(): readonly NotifyChannel[] {
    const fallback = this.#default();
    return [...this.#entries.values()].map(({ row: { name, type, description } }) => ({
      name,
      type,
      description,
      isDefault: name === fallback,
    }));
  }

  find(name: string | undefined): NotifyChannel | undefined {
    const isOpen = name === undefined || name.trim() === '' || (name === 'default' && !this.#entries.has(name));
    const wanted = isOpen ? this.#default() : name;
    return this.list().find((channel) => channel.name === wanted);
  }

  target(name: string): ReturnType<NotifyChannels['target']> {
    const entry = this.#entries.get(name);
    return entry && { channel: name, url: entry.row.url, config: clearConfig(name, entry.config) };
  }

  onChange(fn: (name: string) => void): () => void {
    // A listener of its own per call: the same function may listen twice.
    const listener = (name: string): void => fn(name);
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** All channels by name, as clients see them. */
  views(): readonly ChannelView[] {
    return [...this.#entries.keys()].sort().map((name) => this.view(name));
  }

  /** Throws ORYX_NOT_FOUND. */
  view(name: string): ChannelView {
    const { row, config } = this.#entry(name);
    const shown = shownConfig(config, this.#parts.secrets);
    const { type, url, description } = row;
    return { name, type, url, description, config: this.#marked === name ? { ...shown, default: true } : shown };
  }

  /** Throws ORYX_INVALID_INPUT for a bad field or a name in use. */
  async create(name: string, input: ChannelInput): Promise<ChannelView> {
    checkedName(name);
    const taken = invalidInput(`Notify channel "${name}" exists already: change it with PUT, or choose another name.`);
    if (this.#entries.has(name)) throw taken;
    const draft = this.#draft(name, undefined, input);
    await this.#parts.repository.add(draft.row, draft.mark ?? false, this.#ctx.clock.now()).catch((error: unknown) => {
      throw isOryxError(error) && error.code === 'ORYX_STORE_CONSTRAINT' ? taken : error;
    });
    this.#ctx.log.info('notify channel added', { channel: name, type: input.type, host: hostOf(draft.row.url) });
    this.#put(draft);
    return this.view(name);
  }

  /**
   * Changes what `input` holds and keeps the rest. Throws ORYX_NOT_FOUND, ORYX_INVALID_INPUT (also for a kept secret and another host), and
   * ORYX_CONFLICT when somebody else changed the channel at the same moment.
   */
  async update(name: string, input: ChannelInput): Promise<ChannelView> {
    const before = this.#entry(name);
    const draft = this.#draft(name, before, input);
    await this.#parts.repository.update(before.row, draft.row, draft.mark, this.#ctx.clock.now()).catch((error: unknown) => {
      throw isConflict(error)
        ? conflict(`Notify channel "${name}" was changed by somebody else just now: look at it and try again.`)
        : error;
    });
    const [from, to] = [hostOf(before.row.url), hostOf(draft.row.url)];
    if (from !== to) this.#ctx.log.warn('the host of a notify channel was changed', { channel: name, from, to });
    this.#put(draft);
    return this.view(name);
  }

  /** Throws ORYX_NOT_FOUND. */
  async remove(name: string): Promise<void> {
    this.#entry(name);
    await this.#parts.repository.remove(name).catch((error: unknown) => {
      throw isConflict(error) ? missing(name) : error;
    });
    this.#entries.delete(name);
    if (this.#marked === name) this.#marked = undefined;
    this.#ctx.log.info('notify channel deleted', { channel: name });
    this.#announce(name);
  }

  #entry(name: string): KnownChannel {
    const entry = this.#entries.get(name);
    if (entry === undefined) throw missing(name);
    return entry;
  }

  /** The one that was marked, else the oldest. */
  #default(): string | undefined {
    return this.#marked ?? this.#entries.keys().next().value;
  }

  #draft(name: string, before: KnownChannel | undefined, input: ChannelInput): ChannelDraft {
    const { secrets, outside } = this.#parts;
    return channelDraft(name, before, input, { adapters: this.#ctx.registry('notifyAdapter'), secrets, http: outside.registered });
  }

  async #load(row: ChannelRow): Promise<void> {
    const { repository, secrets } = this.#parts;
    const { name } = row;
    const config = readConfig(name, row.config, secrets);
    if (secretsIn(config).every(({ node }) => node.value !== node.sealed)) return this.#keep({ row, config });
    const sealed = sealedConfig(name, config, secrets);
    const after = { ...row, config: storedConfig(sealed) };
    await repository.update(row, after, undefined, this.#ctx.clock.now());
    this.#ctx.log.info('secrets of a notify channel that stood in plain text were encrypted', { channel: name });
    this.#keep({ row: after, config: sealed });
  }

  #put({ row, config, mark }: ChannelDraft): void {
    const { name } = row;
    const markedBefore = this.#marked;
    if (mark === true) this.#marked = name;
    if (mark === false && markedBefore === name) this.#marked = undefined;
    this.#keep({ row, config });
    this.#announce(name);
    if (mark === true && markedBefore !== undefined && markedBefore !== name) this.#announce(markedBefore);
  }

  /** Nothing of a channel that is a key is seen in a log, from now on and also when the channel has gone. */
  #keep(entry: KnownChannel): void {
    const values = secretsIn(entry.config).map(({ node }) => node.value ?? '');
    for (const value of [...values, ...keysInUrl(entry.row.url)]) {
      if (this.#hidden.has(value)) continue;
      this.#hidden.add(value);
      this.#ctx.own(`masked key of ${entry.row.name}`, this.#parts.secrets.remember(value));
    }
    this.#entries.set(entry.row.name, entry);
  }

  #announce(name: string): void {
    for (const listener of this.#listeners) {
      try {
        listener(name);
      } catch (error) {
        this.#ctx.log.error('a listener for notify channels failed', { channel: name, error });
      }
    }
  }
}

const missing = (name: string): Error => notFound(`Notify channel "${name}" does not exist.`);
const isConflict = (error: unknown): boolean => isOryxError(error) && error.code === 'ORYX_STORE_CONFLICT';

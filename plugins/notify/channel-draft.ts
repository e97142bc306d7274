/** What a request makes of a channel, checked and not yet stored. */
import type { NotifyAdapter, ReadonlyRegistry } from '../../kernel/index.ts';
import { invalidInput } from '../../kernel/index.ts';
import type { RegisteredHttp } from '../outside/contract.ts';
import type { Secrets } from '../secrets/contract.ts';
import { type ConfigMap, readableConfig, secretsIn, storedConfig } from './channel-config.ts';
import { changedConfig } from './channel-config-change.ts';
import type { ChannelRow } from './channel-repository.ts';
import { checkedChannelUrl, isSameReceiver } from './channel-url.ts';

const MAX_DESCRIPTION_CHARS = 2_000;

/** What a client sends; see `changedConfig` for what `config` means. An absent description is kept. */
export interface ChannelInput {
  readonly type: string;
  readonly url: string;
  readonly description?: string | null;
  readonly config?: Readonly<Record<string, unknown>> | null;
}

/** A channel: its row, and its configuration with secrets in clear. */
export interface KnownChannel {
  readonly row: ChannelRow;
  readonly config: ConfigMap;
}

/** A channel as it shall be. */
export interface ChannelDraft extends KnownChannel {
  /** Whether it shall get or lose the mark for messages that name no channel; undefined leaves that as it is. */
  readonly mark: boolean | undefined;
}

/** What a draft is judged by. */
export interface DraftParts {
  readonly adapters: ReadonlyRegistry<NotifyAdapter>;
  readonly secrets: Secrets;
  readonly http: Pick<RegisteredHttp, 'refusal'>;
}

/** Throws ORYX_INVALID_INPUT that names the field at fault, also for a kept secret and another host. */
export function channelDraft(
  name: string,
  before: KnownChannel | undefined,
  input: ChannelInput,
  { adapters, secrets, http }: DraftParts,
): ChannelDraft {
  const type = checkedType(input.type, adapters);
  const url = checkedChannelUrl(input.url, http);
  const { rest, mark } = withoutMark(input.config);
  const config = changedConfig(name, before?.config ?? new Map(), rest, secrets);
  if (before !== undefined && !isSameReceiver(before.row.url, url)) refuseKeptSecrets(name, before.config, config);
  const problem = adapters.get(type)?.configProblem?.(readableConfig(config));
  if (problem !== undefined) throw invalidInput(`config does not fit the type ${type}: ${problem}`);
  const description = input.description === undefined ? (before?.row.description ?? null) : checkedDescription(input.description);
  return { row: { name, type, url, description, config: storedConfig(config) }, config, mark };
}

function checkedType(type: string, adapters: ReadonlyRegistry<NotifyAdapter>): string {
  if (adapters.get(type) !== undefined) return type;
  const known = adapters.list().map(({ name }) => name);
  throw invalidInput(
    known.length === 0 ? 'type cannot be set: no notify adapter is loaded.' : `type must be one of ${known.sort().join(', ')}.`,
  );
}

/** `config.default` is kept apart, because only one channel can have it. */
function withoutMark(config: ChannelInput['config']): { readonly rest: ChannelInput['config']; readonly mark: boolean | undefined } {
  if (config === null) return { rest: null, mark: false };
  if (config === undefined || !Object.hasOwn(config, 'default')) return { rest: config, mark: undefined };
  const { default: mark, ...rest } = config;
  if (mark !== null && typeof mark !== 'boolean') throw invalidInput('config.default must be true or false.');
  return { rest, mark: mark ?? false };
}

/** A secret was given for one receiver: what is kept of it must not be used at another. */
function refuseKeptSecrets(name: string, before: ConfigMap, after: ConfigMap): void {
  const old = new Set(secretsIn(before).map(({ node }) => node));
  const kept = secretsIn(after).filter(({ node }) => old.has(node));
  if (kept.length === 0) return;
  const keys = kept.map(({ path }) => path).join(' and ');
  throw invalidInput(
    `url leads to another host than the one that ${keys} of "${name}" was given for: send it again, or null to remove it.`,
  );
}

function checkedDescription(sent: string | null): string | null {
  const description = sent?.trim() ?? '';
  if (description.length > MAX_DESCRIPTION_CHARS)
    throw invalidInput(`description must not be longer than ${MAX_DESCRIPTION_CHARS} characters.`);
  return description === '' ? null : description;
}

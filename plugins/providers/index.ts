/** Keeps model providers: stored, encrypted, seeded from the configuration, callable by name, and asked again when they fail for a moment. */
import { definePlugin } from '../../kernel/index.ts';
import type { Providers } from './contract.ts';
import { migrations } from './migrations.ts';
import type { Timeouts } from './provider.ts';
import { ProviderBook } from './provider-book.ts';
import { providerRepository } from './provider-repository.ts';
import { nextAttempt } from './retry.ts';
import { providerRoutes } from './routes.ts';
import { seedProviders } from './seeds.ts';

/** After the taps that name another provider. */
const RETRY_STAGE = 100;

const nullable = { type: ['string', 'null'] } as const;
const connectSeconds = { type: 'integer', minimum: 1, maximum: 60, default: 10 } as const;

export default definePlugin({
  name: 'providers',
  requires: ['store', 'secrets', 'http', 'outside'],
  configAt: {
    providers: 'oryxos.providers',
    authorProvider: 'oryxos.author.provider',
    authorModel: 'oryxos.author.model',
    revealApiKeys: 'oryxos.web.reveal-api-keys',
    connectTimeoutSeconds: 'oryxos.llm.connect-timeout-seconds',
    readTimeoutSeconds: 'oryxos.llm.read-timeout-seconds',
    modelsConnectTimeoutSeconds: 'oryxos.provider.models.connect-timeout-seconds',
    modelsReadTimeoutSeconds: 'oryxos.provider.models.read-timeout-seconds',
  },
  config: {
    type: 'object',
    properties: {
      providers: {
        type: 'array',
        items: {
          type: 'object',
          properties: { name: { type: 'string' }, apiKey: nullable, baseUrl: nullable, description: nullable },
          required: ['name'],
          additionalProperties: false,
        },
        default: [],
      },
      authorProvider: { type: 'string', default: '' },
      authorModel: { type: 'string', default: '' },
      revealApiKeys: { type: 'boolean', default: false },
      connectTimeoutSeconds: connectSeconds,
      readTimeoutSeconds: { type: 'integer', minimum: 1, maximum: 3600, default: 120 },
      modelsConnectTimeoutSeconds: connectSeconds,
      modelsReadTimeoutSeconds: { type: 'integer', minimum: 1, maximum: 600, default: 30 },
    },
    additionalProperties: false,
  },
  live: [
    'providers',
    'authorProvider',
    'authorModel',
    'revealApiKeys',
    'connectTimeoutSeconds',
    'readTimeoutSeconds',
    'modelsConnectTimeoutSeconds',
    'modelsReadTimeoutSeconds',
  ],
  async setup(ctx) {
    const { store, secrets, outside } = ctx.services;
    await store.migrate(ctx.name, migrations);

    const repository = providerRepository(store);
    const mock = { name: 'mock', api_key: null, base_url: null, description: 'Built-in model for trying things out' };
    await repository.addMissing(mock, ctx.clock.now());
    const book = new ProviderBook(ctx, {
      repository,
      secrets,
      outside,
      revealApiKeys: () => ctx.config.revealApiKeys,
      chat: () => timeouts(ctx.config.connectTimeoutSeconds, ctx.config.readTimeoutSeconds),
      models: () => timeouts(ctx.config.modelsConnectTimeoutSeconds, ctx.config.modelsReadTimeoutSeconds),
    });
    const masked = new Set<string>();
    const takeUp = async (seeds: typeof ctx.config.providers): Promise<void> => {
      for (const { apiKey } of seeds) {
        if (!apiKey || apiKey.includes('${') || masked.has(apiKey)) continue;
        masked.add(apiKey);
        ctx.own('masked key of the configuration', secrets.remember(apiKey));
      }
      await seedProviders(seeds, { repository, secrets, http: outside.registered, log: ctx.log }, ctx.clock.now());
      await book.load();
    };
    await takeUp(ctx.config.providers);
    ctx.onConfig(({ providers: seeds }) => takeUp(seeds));

    const registered = ctx.registry('provider');
    const providers: Providers = {
      list: () => book.list(),
      defaults: () => authorDefaults(book.usable(), ctx.config.authorProvider, ctx.config.authorModel),
      has: (name) => registered.get(name) !== undefined,
    };
    ctx.provide('providers', providers);
    for (const route of providerRoutes(book)) ctx.register('route', route);
    ctx.tap('onLlmFailure', (attempt, turn) => nextAttempt(attempt, turn), { stage: RETRY_STAGE });
  },
});

const timeouts = (connectSeconds: number, readSeconds: number): Timeouts => ({
  connectTimeoutMs: connectSeconds * 1000,
  readTimeoutMs: readSeconds * 1000,
});

/** The author's provider where it exists, else the first that is not built in; without an author model only `mock` can be told what to run. */
function authorDefaults(
  usable: readonly string[],
  authorProvider: string,
  authorModel: string,
): { readonly provider: string; readonly model: string } {
  const model = authorModel.trim();
  const provider = usable.find((name) => name === authorProvider) ?? usable[0];
  return provider === undefined || model === '' ? { provider: 'mock', model: 'mock' } : { provider, model };
}

/** Refuses tool calls that touch anything outside the whitelists. */
import { resolve } from 'node:path';
import type { Claim, Logger, Refusal } from '../../kernel/index.ts';
import { definePlugin, messageOf } from '../../kernel/index.ts';
import type {} from '../http/contract.ts';
import { ProjectionProblem, addressesOf, givenPath, project } from '../outside/contract.ts';
import { canonicalEntry } from './entries.ts';
import { judgeFile, judgeOther, unresolved } from './judge.ts';
import type { Rules } from './judge.ts';
import { judgeUrl } from './judge-url.ts';
import { confinement } from './confinement.ts';
import { migrations } from './migrations.ts';
import { isOwnAddress } from './own-address.ts';
import { privateRule } from './private-rule.ts';
import type { PrivateRule } from './private-rule.ts';
import { whitelistRoutes } from './routes.ts';
import type { Category } from './whitelist-repository.ts';
import { Whitelist } from './whitelist.ts';
import type { Seed } from './whitelist.ts';

const list = (...entries: readonly string[]) => ({ type: 'array', items: { type: 'string' }, default: entries }) as const;

export default definePlugin({
  name: 'sandbox',
  guard: true,
  requires: ['store', 'workspace', 'http'],
  configAt: {
    allowedPaths: 'file.allowed_paths',
    protect: 'file.protect',
    allowedCommands: 'shell.allowed_commands',
    allowedDomains: 'http.allowed_domains',
    readPolicy: 'http.read_policy',
    allowedPrivate: 'http.allowed_private',
  },
  config: {
    type: 'object',
    properties: {
      allowedPaths: list('.oryxos'),
      protect: { type: 'boolean', default: true },
      allowedCommands: list('ls', 'cat', 'echo', 'grep'),
      allowedDomains: list('api.deepseek.com', '*.feishu.cn', 'api.open-meteo.com', 'hn.algolia.com', 'api.github.com'),
      readPolicy: { enum: ['whitelist', 'public'], default: 'whitelist' },
      allowedPrivate: list(),
    },
    additionalProperties: false,
  },
  async setup(ctx) {
    const { http, store, workspace } = ctx.services;
    const { root } = workspace;
    await store.migrate(ctx.name, migrations);
    const whitelist = new Whitelist(store, ctx.clock, root);
    await whitelist.seed([
      ...(await seeds('FILE', ctx.config.allowedPaths, root, ctx.log)),
      ...(await seeds('SHELL', ctx.config.allowedCommands, root, ctx.log)),
      ...(await seeds('HTTP', ctx.config.allowedDomains, root, ctx.log)),
    ]);

    const urlRules = {
      readPolicy: ctx.config.readPolicy,
      allowedPrivate: privateRules(ctx.config.allowedPrivate, ctx.log),
      isOwn: (address: string, port: number) => isOwnAddress(address, port, http.address?.port),
    };
    ctx.tap('onClaim', (claim, { turn }) => {
      const { name } = turn.agent;
      const { value: text, access = 'write' } = claim;
      const rules: Rules = { lists: whitelist.lists, root, protect: ctx.config.protect };
      if (claim.kind === 'file') return judgePath(claim, name, workspace.path('agents', name), rules);
      if (claim.kind !== 'url') return judgeOther(claim, rules);
      return judgeUrl({ text, access, addresses: addressesOf(claim) }, { ...urlRules, allowed: rules.lists.http });
    });
    ctx.register(
      'confinement',
      confinement(() => whitelist.lists.file, root, ctx.config.protect),
    );
    for (const route of whitelistRoutes(whitelist, root)) ctx.register('route', route);
  },
});

/** A claim that says nothing about its access is taken for a write. A path that `outside` has just resolved is not resolved again. */
async function judgePath(claim: Claim, agent: string, home: string, rules: Rules): Promise<Refusal | undefined> {
  const access = claim.access ?? 'write';
  const given = givenPath(claim);
  if (given !== undefined) return judgeFile({ given, real: claim.value, access }, agent, rules);
  try {
    const { real } = await project(claim.value, home);
    return judgeFile({ given: claim.value, real, access }, agent, rules);
  } catch (error) {
    if (error instanceof ProjectionProblem) return unresolved(claim.value, error.message);
    throw error;
  }
}

/** What the configuration opens of private networks; an entry that means nothing opens nothing. */
function privateRules(configured: readonly string[], log: Logger): readonly PrivateRule[] {
  const rules: PrivateRule[] = [];
  for (const entry of configured) {
    try {
      rules.push(privateRule(entry));
    } catch (error) {
      log.warn('an entry of http.allowed_private is not usable', { entry, reason: messageOf(error) });
    }
  }
  return rules;
}

/** The configuration's entries; one that means nothing is left out, so it allows nothing, and is taken up at a later start if it has a meaning by then. */
async function seeds(category: Category, configured: readonly string[], root: string, log: Logger): Promise<readonly Seed[]> {
  const found: Seed[] = [];
  const base = { root, directory: process.cwd(), mayLeave: true };
  for (const entry of configured) {
    try {
      const value = await canonicalEntry(category, entry, base);
      // The workspace is allowed without an entry, and an entry would outlive a move of it.
      if (value === root) continue;
      found.push({ category, configured: category === 'FILE' ? resolve(base.directory, entry) : entry, value });
    } catch (error) {
      log.warn('an entry of the configured whitelist is not usable', { list: category.toLowerCase(), entry, reason: messageOf(error) });
    }
  }
  return found;
}

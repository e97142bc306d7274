/** Provides the service `outside`: the one door through which tools touch files and start programs, and administrators' URLs are reached. */
import { definePlugin } from '../../kernel/index.ts';
import { isLeftBehind, isOwnVariable } from './child-environment.ts';
import { createFiles } from './files.ts';
import { createHttp } from './http.ts';
import { findIsolation, type Isolation } from './isolation.ts';
import { openDirectory } from './open-directory.ts';
import { createProcesses } from './processes.ts';
import type { IsolationStatus } from './processes-contract.ts';
import { createRegisteredHttp } from './registered-http.ts';
import { endStrays } from './strays.ts';

export default definePlugin({
  name: 'outside',
  // The store holds the lock on the workspace: without it, children of a server that still runs would be taken for left-overs.
  requires: ['workspace', 'store'],
  configAt: {
    allowHardlinks: 'file.allow_hardlinks',
    shellTimeoutSeconds: 'shell.timeout_seconds',
    shellIsolation: 'shell.isolation',
    shellEnvPassthrough: 'shell.env_passthrough',
  },
  config: {
    type: 'object',
    properties: {
      allowHardlinks: { type: 'boolean', default: false },
      shellTimeoutSeconds: { type: 'integer', minimum: 1, maximum: 600, default: 30 },
      shellIsolation: { enum: ['auto', 'strict', 'none'], default: 'auto' },
      shellEnvPassthrough: { type: 'array', items: { type: 'string', pattern: '^[A-Za-z_][A-Za-z0-9_]*$' }, default: [] },
    },
    additionalProperties: false,
  },
  live: ['allowHardlinks', 'shellTimeoutSeconds', 'shellIsolation', 'shellEnvPassthrough'],
  async setup(ctx) {
    const { workspace } = ctx.services;
    const homeOf = (agent: string): string => workspace.path('agents', agent);
    const files = createFiles({
      homeOf,
      openDirectory,
      clock: ctx.clock,
      get allowHardlinks() {
        return ctx.config.allowHardlinks;
      },
    });
    const tellWithheld = (names: readonly string[]): void => {
      const withheld = names.filter(isOwnVariable);
      if (withheld.length > 0) ctx.log.warn('variables of OryxOS itself are not passed to programs', { names: withheld });
    };
    const isolationFor = async (setting: IsolationStatus['setting']): Promise<Isolation> => {
      const found = await findIsolation(setting);
      if (found.status.warning !== undefined) ctx.log.warn('programs are not isolated', { reason: found.status.warning });
      return found;
    };
    tellWithheld(ctx.config.shellEnvPassthrough);
    const ended = await endStrays(isLeftBehind(workspace.instanceId));
    if (ended > 0) ctx.log.warn('programs that an earlier server left behind were ended', { count: ended });
    let isolation = await isolationFor(ctx.config.shellIsolation);
    ctx.onConfig(async ({ shellIsolation, shellEnvPassthrough }) => {
      tellWithheld(shellEnvPassthrough);
      if (shellIsolation === isolation.status.setting) return;
      const found = await isolationFor(shellIsolation);
      // Finding out takes time: by now the setting may be another one again.
      if (ctx.config.shellIsolation === shellIsolation) isolation = found;
    });
    const processes = createProcesses({
      clock: ctx.clock,
      signal: ctx.signal,
      root: workspace.root,
      instanceId: workspace.instanceId,
      homeOf,
      confinements: ctx.registry('confinement'),
      get timeoutSeconds() {
        return ctx.config.shellTimeoutSeconds;
      },
      get passThrough() {
        return ctx.config.shellEnvPassthrough;
      },
      get isolation() {
        return isolation;
      },
    });
    ctx.own('running programs', () => processes.settled());
    ctx.provide('outside', { files, http: createHttp(ctx), processes, registered: createRegisteredHttp(ctx) });
  },
});

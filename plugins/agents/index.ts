/** Agents are directories: reads them, follows their edits, and registers each valid one as a profile. */
import { mkdir, realpath } from 'node:fs/promises';
import { definePlugin } from '../../kernel/index.ts';
import type {} from '../http/contract.ts';
import type {} from '../providers/contract.ts';
import type {} from '../watch/contract.ts';
import type {} from '../workspace/contract.ts';
import { createAgentEditor } from './agent-editor.ts';
import { createAgentSaves } from './agent-saves-repository.ts';
import { createAgentVersions } from './agent-versions-repository.ts';
import { profileViewOf } from './agent-view.ts';
import { createAgents, createProfiles } from './agents-service.ts';
import { createDeletionListeners } from './deletion-listeners.ts';
import { createDeriver } from './deriver.ts';
import { DiskFollower } from './disk-follower.ts';
import { followDirectory } from './follow-directory.ts';
import { migrations } from './migrations.ts';
import { promptParts } from './prompt-parts.ts';
import { Roster } from './roster.ts';
import { agentRoutes } from './routes.ts';
import { createSerial } from './serial.ts';
import { createFileWriter } from './staged-files.ts';

export default definePlugin({
  name: 'agents',
  requires: ['workspace', 'watch', 'store', 'http', 'providers'],
  async setup(ctx) {
    const { workspace, watch, store } = ctx.services;
    const { clock, log, signal } = ctx;
    await store.migrate(ctx.name, migrations);
    await mkdir(workspace.path('agents'), { recursive: true });
    const directory = await realpath(workspace.path('agents'));
    const files = createFileWriter(directory, createAgentSaves(store), log);
    await files.recover();

    const providers = ctx.registry('provider');
    const versions = createAgentVersions(store);
    const deriver = createDeriver({ versions, knowsProvider: (name) => providers.get(name) !== undefined, environment: process.env, log });
    const roster = new Roster(versions, await versions.live(), (profile) => ctx.register('profile', profile));
    const serial = createSerial();
    const follower = new DiskFollower({ directory, roster, serial, deriver, clock, log, signal });
    ctx.own('follower of the agents directory', () => follower.close());
    await follower.settle();
    await roster.retire(roster.forgotten());

    const deletions = createDeletionListeners();
    const archive = workspace.path('archive');
    const editor = createAgentEditor({
      directory,
      archive,
      roster,
      follower,
      serial,
      files,
      deriver,
      deletions,
      providers: ctx.services.providers,
      clock,
      log,
    });
    const surroundings = { providers, tools: ctx.registry('tool'), checks: ctx.registry('agentCheck') };
    const agents = createAgents({ roster, follower, editor, deletions, surroundings });
    ctx.provide('agents', agents);
    ctx.provide(
      'profiles',
      createProfiles(roster, async (name, version) => (await deriver.stored(name, version))?.profile),
    );

    const profileViews = () =>
      roster
        .names()
        .flatMap((name) => roster.entry(name)?.live ?? [])
        .map(profileViewOf);
    for (const route of agentRoutes(agents, editor, profileViews)) ctx.register('route', route);
    const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
    for (const part of promptParts({ root: workspace.root, clock, log, zone })) ctx.register('promptPart', part);

    const reconsider = (): void => follower.reconsider(roster.names().filter((name) => roster.entry(name)?.error));
    ctx.own(
      'listener for providers',
      providers.onChange((change) => {
        if (change === 'added') reconsider();
      }),
    );
    ctx.own('watch of the agents directory', followDirectory(directory, watch, follower, log));
  },
});

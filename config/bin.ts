#!/usr/bin/env node
/** The program `oryxos`: gives the command line what it needs of this process. The host is loaded only when a command needs one. */
import { userInfo } from 'node:os';
import { runCli, type CliHost, type HostOptions, type RunningHost } from '../adapters/cli/index.ts';
import { systemClock } from '../kernel/index.ts';
import { initWorkspace } from '../plugins/workspace/init-workspace.ts';
import { packageVersion, templateRoot } from './package-root.ts';

const { env, stdin, stdout, stderr } = process;

async function startHost({ root, config, port, host, mode }: HostOptions): Promise<RunningHost> {
  const flags = { ...(port !== undefined && { 'server.port': port }), ...(host !== undefined && { 'server.host': host }) };
  const { boot } = await import('./boot.ts');
  const { ownFault } = await import('./own-fault.ts');
  const plugins = [ownFault((code) => process.exit(code))];
  const started = await boot({ mode, root, file: config, cwd: process.cwd(), env, flags, plugins });
  const { kernel, url } = started;
  let closing: Promise<void> | undefined;
  return {
    url,
    root: started.root,
    agents: kernel.service('agents').list(),
    providers: kernel
      .service('providers')
      .list()
      .map(({ name }) => name),
    warnings: kernel.service('http').warnings,
    close: () => (closing ??= started.close()),
  };
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return 'default';
  }
}

const host: CliHost = {
  env,
  stdin,
  stdout,
  stderr,
  cwd: process.cwd(),
  version: packageVersion,
  user: userName(),
  clock: systemClock(),
  onSignal(signal, fn) {
    process.on(signal, fn);
    return () => process.off(signal, fn);
  },
  startHost,
  initWorkspace: (root) => initWorkspace(root, templateRoot),
  configuredRoot: async (file) => (await import('./boot.ts')).configuredRoot(file, env),
  settings: async ({ root, config }) => (await import('./without-server.ts')).settingsOnDisk(root, config, process.cwd(), env),
  isolation: async (setting) => (await import('./without-server.ts')).isolationHere(setting),
  restore: async (options) => (await import('./without-server.ts')).restoreWorkspace(options, host.clock),
};

process.exitCode = await runCli(process.argv.slice(2), host);
process.exit();

/** `oryxos serve` */
import { resolve } from 'node:path';
import { defineCommand } from './args.ts';
import type { Command } from './args.ts';
import type { Cli } from './cli.ts';
import { portCheck, textCheck } from './checks.ts';
import type { HostOptions, RunningHost } from './cli-host.ts';
import { lineText } from './text.ts';
import { isWorkspace, resolveConfig, resolveRoot } from './workspace-root.ts';

/** npm passes on a signal that the terminal has already sent to the whole group: two this close together are one. */
const SAME_SIGNAL_MS = 500;

/** Runs until SIGINT or SIGTERM and exits with 0 when everything is closed; with 1, at once, when a second signal follows. */
export const serveCommand = serverCommand('serve', 'Run the server of a workspace: REST API, agents, schedules');

/** The same under another name, for those who come from systems where the server is a gateway of messengers. */
export const gatewayCommand = serverCommand('gateway', 'The same as serve');

function serverCommand(name: 'serve' | 'gateway', summary: string): Command {
  return defineCommand({
    name,
    summary,
    options: {
      port: { kind: 'text', value: 'PORT', help: 'default: server.port of the configuration, 8080; 0 takes a free one', check: portCheck },
      host: { kind: 'text', value: 'HOST', help: 'address to listen on; default: 127.0.0.1', check: textCheck },
    },
    examples: [`oryxos ${name}`, `oryxos ${name} --port 9000 --root ~/agents`],
    async run(args, cli) {
      const root = await resolveRoot(args, cli.host);
      const config = resolveConfig(args, cli.host);
      if (!isWorkspace(root)) {
        await cli.host.initWorkspace(root);
        cli.out.line(`Created the workspace ${root}.`);
      }
      const stop = stopSignal(cli);
      try {
        const options = {
          root,
          mode: 'serve' as const,
          ...(config === undefined ? {} : { config }),
          ...(args.port === undefined ? {} : { port: Number(args.port) }),
          ...(args.host === undefined ? {} : { host: args.host }),
        };
        return await Promise.race([serve(options, stop, cli), stop.again.then(() => 1)]);
      } finally {
        stop.release();
      }
    },
  });
}

async function serve(options: HostOptions, stop: StopSignal, cli: Cli): Promise<number> {
  const host = await cli.host.startHost(options);
  printBanner(host, cli);
  await stop.asked;
  cli.out.note('Stopping. A run that does not end within 10 s goes on at the next start. Ctrl-C again stops at once.');
  await host.close();
  return 0;
}

/** Says where the server is, what it runs, and what to type next. */
function printBanner(host: RunningHost, cli: Cli): void {
  const { out } = cli;
  const agents = host.agents.map(({ name, provider, status }) => `${name} (${status === 'ok' ? (provider ?? 'no provider') : status})`);
  const rows: readonly (readonly [string, string])[] = [
    ['URL', out.paint('cyan', host.url)],
    ['Workspace', lineText(host.root)],
    ['Agents', lineText(agents.join(', ')) || 'none'],
    ['Providers', lineText(host.providers.join(', ')) || 'none'],
  ];
  out.line('');
  out.line(out.paint('bold', `OryxOS ${cli.host.version}`));
  for (const [label, value] of rows) out.line(`  ${label.padEnd(10)} ${value}`);
  for (const warning of host.warnings) out.line(`  ${out.paint('yellow', 'Warning'.padEnd(10))} ${lineText(warning)}`);
  out.line('');
  for (const line of nextSteps(host, cli)) out.line(line);
}

function nextSteps(host: RunningHost, { host: { env, cwd } }: Cli): readonly string[] {
  const ready = host.agents.filter(({ status }) => status === 'ok').map(({ name }) => name);
  const agent = ready.includes('default') ? 'default' : ready[0];
  // In a clone the program is not on the PATH, but npm finds it.
  const program = env['npm_lifecycle_event'] === undefined ? 'oryxos' : 'npx oryxos';
  const root = host.root === resolve(cwd, '.oryxos') ? '' : ` --root ${lineText(host.root)}`;
  if (agent === undefined)
    return [`Create an agent, in another terminal: ${program} profile create NAME${root}`, 'Ctrl-C stops the server.'];
  const profile = agent === 'default' ? '' : ` --profile ${lineText(agent)}`;
  return [
    'Talk to an agent, in another terminal:',
    `  ${program} chat${profile}${root}`,
    `  curl ${host.url}/api/v1/agents/${agent}/invoke -H 'content-type: application/json' -d '{"content":"hello"}'`,
    'Ctrl-C stops the server.',
  ];
}

interface StopSignal {
  /** Resolves at the first SIGINT or SIGTERM, also at one that came during the start. */
  readonly asked: Promise<void>;
  /** Resolves at a later one that is not an echo of the first. */
  readonly again: Promise<void>;
  release(): void;
}

function stopSignal({ host }: Cli): StopSignal {
  let ask: () => void;
  let insist: () => void;
  const asked = new Promise<void>((resolve) => (ask = resolve));
  const again = new Promise<void>((resolve) => (insist = resolve));
  let firstAt: number | undefined;
  const onSignal = (): void => {
    const at = host.clock.monotonic();
    if (firstAt === undefined) {
      firstAt = at;
      ask();
      return;
    }
    if (at - firstAt > SAME_SIGNAL_MS) insist();
  };
  const undo = [host.onSignal('SIGINT', onSignal), host.onSignal('SIGTERM', onSignal)];
  return { asked, again, release: () => undo.forEach((dispose) => dispose()) };
}

/** `oryxos doctor`: what does not work here, what gives up protection, and what to do about it. */
import { messageOf } from '../../kernel/index.ts';
import type { CommonArgs } from './args.ts';
import { defineCommand } from './args.ts';
import type { Cli } from './cli.ts';
import { findServer, withConnection } from './connection.ts';
import { hostFindings } from './doctor-host.ts';
import { isolationFinding, nodeFinding } from './doctor-machine.ts';
import { settingFindings } from './doctor-settings.ts';
import { workspaceFindings } from './doctor-workspace.ts';
import { failure, type Finding, fine } from './finding.ts';
import { jsonOption } from './list-command.ts';
import { settingsOf } from './settings.ts';
import { lineText } from './text.ts';
import { isWorkspace, resolveRoot } from './workspace-root.ts';

/** Ends with 1 when it has found an error; warnings alone end with 0. */
export const doctorCommand = defineCommand({
  name: 'doctor',
  summary: 'Look for what does not work or gives up protection, and say what to do',
  options: { online: { kind: 'flag', help: 'also ask every provider whether it answers' }, ...jsonOption },
  examples: ['oryxos doctor', 'oryxos doctor --online --json'],
  async run(args, cli) {
    const findings = await findingsOf(args, args.online, cli);
    if (args.json) cli.out.json(findings);
    else print(findings, cli);
    return findings.some(({ level }) => level === 'error') ? 1 : 0;
  },
});

async function findingsOf(args: CommonArgs, online: boolean, cli: Cli): Promise<readonly Finding[]> {
  const node = nodeFinding(process.versions.node);
  const root = await resolveRoot(args, cli.host);
  if (!isWorkspace(root)) return [node, failure(`There is no workspace at ${root}.`, 'oryxos init')];

  const server = await findServer(root);
  return [
    node,
    ...(await workspaceFindings(root)),
    ...(await tried('The configuration cannot be used', async () => {
      const settings = await settingsOf(args, cli);
      const isolation = settings.find(({ key }) => key === 'shell.isolation')?.value;
      const { isolated, summary } = await cli.host.isolation(typeof isolation === 'string' ? isolation : 'auto');
      return [isolationFinding(isolated, summary), ...settingFindings(settings)];
    })),
    ...(await tried('The workspace cannot be opened', () =>
      withConnection(args, cli, async ({ client }) => [
        fine(server === undefined ? 'No server runs; the workspace was opened for this check.' : `A server runs at ${server.url}.`),
        ...(await hostFindings(client, online)),
      ]),
    )),
  ];
}

/** A part that breaks off is a finding, and the others are still looked at. */
async function tried(what: string, look: () => Promise<readonly Finding[]>): Promise<readonly Finding[]> {
  try {
    return await look();
  } catch (error) {
    return [failure(`${what}: ${messageOf(error)}`, 'Do what the message says, then look again.')];
  }
}

function print(findings: readonly Finding[], { out }: Cli): void {
  const colours = { ok: 'green', warn: 'yellow', error: 'red' } as const;
  for (const { level, what, whatToDo } of findings) {
    out.line(`${out.paint(colours[level], level.padEnd(5))}  ${lineText(what)}`);
    if (whatToDo !== null) out.line(`       → ${lineText(whatToDo)}`);
  }
  const count = (level: Finding['level']): number => findings.filter((finding) => finding.level === level).length;
  out.line('');
  out.line(`Errors: ${count('error')}. Warnings: ${count('warn')}.`);
}

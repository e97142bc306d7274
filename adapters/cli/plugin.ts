/** `oryxos plugin …`: what the server is made of, and what others have added. */
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { conflict, notFound } from '../../kernel/index.ts';
import { defineCommand, type Check } from './args.ts';
import { textCheck } from './checks.ts';
import { withConnection } from './connection.ts';
import { jsonOption, listCommand } from './list-command.ts';
import { pluginFiles, sectionFor, toolNameOf } from './plugin-template.ts';
import { pathOf } from './rest-client.ts';
import { lineText } from './text.ts';
import { isWorkspace, resolveConfig, resolveRoot } from './workspace-root.ts';

/** A plugin as the server shows it. */
interface PluginRow {
  readonly name: string;
  readonly version: string | null;
  readonly source: string;
  readonly state: string;
  readonly missing: readonly string[];
  readonly error: string | null;
  readonly warnings: readonly string[];
  readonly trust?: string | null;
}

const packageCheck: Check = (value) =>
  /^(?:@[a-z0-9][a-z0-9._-]*\/)?[a-z0-9][a-z0-9._-]*$/.test(value) && value.length <= 100 && value !== 'node_modules'
    ? undefined
    : 'must be a package name: lower-case letters, digits, "-", "_" and ".", if need be after a scope ("@me/")';

const list = listCommand<PluginRow>({
  name: 'plugin list',
  summary: 'List plugins: built-in ones, and those of the configuration',
  path: () => '/api/v1/plugins',
  columns: {
    NAME: (row) => row.name,
    STATE: (row) => row.state,
    SOURCE: (row) => row.source,
    VERSION: (row) => row.version,
    NOTE: noteOf,
  },
  none: 'No plugins.',
  footnote: (rows) => trustOf(rows),
});

const retry = defineCommand({
  name: 'plugin retry',
  summary: 'Load a plugin again from the disk',
  words: { name: { help: 'a plugin of "oryxos plugin list"', check: textCheck } },
  options: jsonOption,
  run: (args, cli) =>
    withConnection(args, cli, async ({ client }) => {
      const plugin = await client.post<PluginRow>(pathOf`/api/v1/plugins/${args.name}/retry`);
      if (args.json) cli.out.json(plugin);
      else cli.out.line(`${lineText(plugin.name)} is ${plugin.state}${noteOf(plugin) === '' ? '.' : `: ${lineText(noteOf(plugin))}`}`);
      return plugin.state === 'active' && plugin.error === null ? 0 : 1;
    }),
});

const create = defineCommand({
  name: 'plugin create',
  summary: 'Write a small plugin into the workspace, to be changed while the server runs',
  words: { name: { help: 'the name of its package, e.g. "hello"', check: packageCheck } },
  options: { enable: { kind: 'flag', help: 'also name it in the configuration file, if there is none yet' } },
  examples: ['oryxos plugin create hello --enable', 'oryxos plugin create @me/oryxos-plugin-weather'],
  async run({ name, enable, ...args }, { host, out }) {
    const root = await resolveRoot(args, host);
    if (!isWorkspace(root)) throw notFound(`There is no workspace at ${root}. Create one with "oryxos init".`);
    const directory = join(root, 'plugins', ...name.split('/'));
    if (existsSync(directory)) throw conflict(`There is something at ${directory} already; choose another name.`);
    const files = pluginFiles(name, host.version);
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(directory, path)), { recursive: true });
      await writeFile(join(directory, path), text, { flag: 'wx' });
    }
    out.line(`Created in ${lineText(directory)}:`);
    for (const path of Object.keys(files)) out.line(`  ${path}`);
    out.line('');

    const file = resolveConfig(args, host) ?? join(root, 'application.yml');
    const isEnabled = enable && (await isCreated(file, sectionFor(name)));
    if (isEnabled) out.line(`Named it in ${lineText(file)}; a running server loads it now.`);
    else {
      out.line(`Load it: add to ${lineText(file)}, below "oryxos:" and "plugins:" if they are there already`);
      out.line('');
      out.write(indented(sectionFor(name)));
    }
    out.line('');
    out.line(
      `Use it: add ${toolNameOf(name)} to "tools:" in the AGENT.md of an agent that has a real model (mock calls no tools of plugins).`,
    );
    out.line('It runs in the server with full access; the sandbox judges only what its tools claim.');
    out.line(
      `Change it: edit ${lineText(join(directory, 'index.js'))}; every save is live. "oryxos plugin list" says if something is wrong.`,
    );
  },
});

/** The commands of the group. */
export const pluginCommands = [list, retry, create];

function noteOf({ error, missing, warnings }: PluginRow): string {
  const waits = missing.length > 0 ? [`waits for ${missing.join(', ')}`] : [];
  return [...(error === null ? [] : [error]), ...waits, ...warnings].join('; ');
}

/** What all plugins that are not built in may do: one sentence, if there are any. */
function trustOf(rows: readonly PluginRow[]): string | undefined {
  const foreign = rows.filter(({ trust }) => typeof trust === 'string');
  const [first] = foreign;
  return first && `${foreign.map(({ name }) => name).join(', ')}: ${first.trust}.`;
}

/** A configuration file that exists belongs to its owner and is never rewritten. */
async function isCreated(file: string, text: string): Promise<boolean> {
  return writeFile(file, text, { flag: 'wx' }).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'EEXIST') return false;
      throw error;
    },
  );
}

const indented = (text: string): string => text.replaceAll(/^(?=.)/gm, '  ');

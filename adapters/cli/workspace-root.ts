/** Which workspace a command means, and whether there is one. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { notFound } from '../../kernel/index.ts';
import type { CommonArgs } from './args.ts';
import type { CliHost } from './cli-host.ts';

/** The absolute root: `--root`, else `ORYXOS_ROOT`, else `oryxos.root` of `--config`, else `./.oryxos`. */
export async function resolveRoot(args: CommonArgs, host: CliHost): Promise<string> {
  const named = args.root || host.env['ORYXOS_ROOT'] || (await rootOfConfig(args, host));
  return resolve(host.cwd, named || '.oryxos');
}

/** Absolute path of the file that `--config` names. Throws ORYX_NOT_FOUND when there is no such file. */
export function resolveConfig(args: CommonArgs, host: CliHost): string | undefined {
  if (args.config === undefined) return undefined;
  const file = resolve(host.cwd, args.config);
  if (!existsSync(file)) throw notFound(`There is no configuration file ${file}.`);
  return file;
}

async function rootOfConfig(args: CommonArgs, host: CliHost): Promise<string | undefined> {
  const file = resolveConfig(args, host);
  return file === undefined ? undefined : host.configuredRoot?.(file);
}

/** Whether a directory has been made a workspace: it has a place for agents. */
export function isWorkspace(root: string): boolean {
  return existsSync(resolve(root, 'agents'));
}

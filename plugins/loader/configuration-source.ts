/** Where the configuration of one host comes from: read at the start, and again after every edit of the file. */
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Plugin } from '../../kernel/index.ts';
import { type Configuration, readConfiguration } from './configuration.ts';

/** What a start of the program says about the configuration. */
export interface SourceOptions {
  /** Plugins whose keys are known. */
  readonly plugins: readonly Plugin[];
  /** Workspace root and configuration file as the command line gave them. */
  readonly root: string | undefined;
  readonly file: string | undefined;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Values by key path; they win over file and environment. */
  readonly flags: Readonly<Record<string, unknown>>;
}

/** A configuration that can be read again. */
export interface ConfigurationSource {
  /** Absolute path of the workspace. */
  readonly root: string;
  /** Absolute path of the file that counts; without `--config` it need not exist. */
  readonly file: string;
  /** What stands in the file now, to compare; undefined when there is none that can be read. */
  text(): string | undefined;
  /** Reads environment, flags and the file as they are now; `text` is what stands in the file, if that is known. Throws ORYX_CONFIG. */
  read(text?: string): Configuration;
}

/**
 * Finds workspace and file: `--root` or `oryxos.root` say where the workspace is, and its application.yml counts unless `--config` names a file.
 *
 * @throws ORYX_CONFIG when the root cannot be told because the named file is not valid
 */
export function configurationSource({ plugins, root: rootFlag, file, cwd, env, flags }: SourceOptions): ConfigurationSource {
  const named = file === undefined ? undefined : resolve(cwd, file);
  const given = rootFlag === undefined ? flags : { ...flags, 'oryxos.root': resolve(cwd, rootFlag) };
  const first = readConfiguration({ plugins, file: named, env, flags: given });
  const root = resolve(cwd, first.values().get('oryxos.root')?.value as string);
  const used = named ?? join(root, 'application.yml');
  return {
    root,
    file: used,
    text: () => textOf(used),
    read: (text) =>
      readConfiguration({
        plugins,
        text,
        file: named === undefined && text === undefined && !existsSync(used) ? undefined : used,
        env,
        flags: { ...flags, 'oryxos.root': root },
      }),
  };
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

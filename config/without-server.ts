/** What the command line does with a workspace that nothing runs on: looks at its settings, puts a backup in its place. */
import type { Clock } from '../kernel/index.ts';
import { KEY } from '../plugins/backup/manifest.ts';
import { restoreArchive } from '../plugins/backup/restore-archive.ts';
import { configurationSource } from '../plugins/loader/configuration-source.ts';
import type { SettingView } from '../plugins/loader/contract.ts';
import { settingsOf } from '../plugins/loader/settings.ts';
import { findIsolation } from '../plugins/outside/isolation.ts';
import { hintOf } from '../plugins/secrets/masked.ts';
import { Masker } from '../plugins/secrets/masker.ts';
import { verifyCopy } from '../plugins/store/verify-copy.ts';
import { lockWorkspace } from '../plugins/store/workspace-lock.ts';
import { adapterPlugins, builtInPlugins } from './plugins.ts';

/**
 * The settings that a server would have, with their origins, secrets masked.
 *
 * @param file  a configuration file that stands in for `<root>/application.yml`
 * @throws ORYX_CONFIG when the configuration is not valid
 */
export function settingsOnDisk(root: string, file: string | undefined, cwd: string, env: NodeJS.ProcessEnv): readonly SettingView[] {
  const source = configurationSource({ plugins: [...adapterPlugins([]), ...builtInPlugins], root, file, cwd, env, flags: {} });
  const masker = new Masker();
  return settingsOf(source.read(), { mask: (text) => masker.mask(text), hint: hintOf });
}

/** How programs of agents are isolated on this machine; an unknown setting counts as `auto`. */
export async function isolationHere(setting: string): Promise<{ readonly isolated: boolean; readonly summary: string }> {
  const { status } = await findIsolation(setting === 'strict' || setting === 'none' ? setting : 'auto');
  return status;
}

/** Makes a workspace of a backup; see `restoreArchive` for what is refused. */
export async function restoreWorkspace(options: { readonly file: string; readonly root: string; readonly force: boolean }, clock: Clock) {
  const { manifest, aside } = await restoreArchive({ ...options, at: clock.now() }, { verifyDatabase: verifyCopy, lock: lockWorkspace });
  return {
    createdAt: manifest.createdAt,
    files: manifest.entries.filter(({ type }) => type === 'file').length,
    aside: aside ?? null,
    needsKey: !manifest.withKey && manifest.entries.some(({ path }) => path === `${KEY}.id`),
  };
}

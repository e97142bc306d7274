/** A store over a real workspace, through the kernel's front door. */
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Clock, createKernel, type KernelHost, type Store, systemClock } from '../../../kernel/index.ts';
import type { Backups, StoreHealth } from '../../../plugins/store/contract.ts';
import storePlugin from '../../../plugins/store/index.ts';
import workspacePlugin from '../../../plugins/workspace/index.ts';
import { recordedLog, type RecordedLog } from '../logging/recorded-log.ts';

export interface StoreHost {
  readonly kernel: KernelHost;
  readonly store: Store;
  readonly backups: Backups;
  readonly health: StoreHealth;
  readonly log: RecordedLog;
  readonly close: () => Promise<void>;
}

/** Loads workspace and store on `root`. Throws what the plugin failed with. */
export async function openStore(root: string, clock: Clock = systemClock()): Promise<StoreHost> {
  const kernel = createKernel({ clock });
  const log = recordedLog();
  try {
    await kernel.load(log.plugin);
    for (const [plugin, config] of [
      [workspacePlugin, { root }],
      [storePlugin, {}],
    ] as const) {
      const { error } = await kernel.load(plugin, config);
      if (error) throw error;
    }
  } catch (error) {
    await kernel.close();
    throw error;
  }
  const { store, backups, health } = {
    store: kernel.service('store'),
    backups: kernel.service('backups'),
    health: kernel.service('storeHealth'),
  };
  return { kernel, store, backups, health, log, close: () => kernel.close() };
}

/** A directory of its own and how to remove it. */
export async function temporaryRoot(): Promise<{ root: string; readonly remove: () => Promise<void> }> {
  const home = await realpath(await mkdtemp(join(tmpdir(), 'oryxos-store-')));
  return { root: join(home, 'root'), remove: () => rm(home, { recursive: true, force: true }) };
}

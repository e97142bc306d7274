/** The settings in effect: of the running server, else of the next one. */
import { isOryxError } from '../../kernel/index.ts';
import type { CommonArgs } from './args.ts';
import type { Cli } from './cli.ts';
import { findServer } from './connection.ts';
import { createRestClient } from './rest-client.ts';
import type { SettingView } from './views.ts';
import { resolveConfig, resolveRoot } from './workspace-root.ts';

/**
 * Every setting with its origin, secrets masked. Without a server the files are read as `serve` would read them; a host that was opened for
 * this command has settings of its own. Throws ORYX_CONFIG for a configuration that is not valid.
 */
export async function settingsOf(args: CommonArgs, { host }: Cli): Promise<readonly SettingView[]> {
  const root = await resolveRoot(args, host);
  const config = resolveConfig(args, host);
  const server = await findServer(root);
  if (server === undefined) return host.settings({ root, ...(config === undefined ? {} : { config }) });
  const client = createRestClient(server.url);
  try {
    return await client.get<readonly SettingView[]>('/api/v1/config');
  } catch (error) {
    if (isOryxError(error) && error.status === 404) return host.settings({ root, ...(config === undefined ? {} : { config }) });
    throw error;
  } finally {
    client.close();
  }
}

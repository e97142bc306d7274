/** The way to a workspace: its running server, or a host opened for the length of one command. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isOryxError, notFound } from '../../kernel/index.ts';
import type { CommonArgs } from './args.ts';
import type { Cli } from './cli.ts';
import { createRestClient } from './rest-client.ts';
import type { RestClient } from './rest-client.ts';
import { isWorkspace, resolveConfig, resolveRoot } from './workspace-root.ts';

/** The server that owns a workspace, as it has written down itself. */
export interface ServerInfo {
  readonly pid: number;
  readonly url: string;
}

/** A way to the API of a workspace; whoever opened it closes it. */
export interface Connection {
  readonly client: RestClient;
  readonly root: string;
  /** Warnings of a host that was opened for this command; a server prints its own. */
  readonly warnings: readonly string[];
  /** Leaves the server alone, or closes the host that was opened. */
  close(): Promise<void>;
}

/** The server that runs on a workspace and answers, or undefined. What a killed server left behind does not count. */
export async function findServer(root: string): Promise<ServerInfo | undefined> {
  const info = await writtenServer(root);
  if (info === undefined || !isAlive(info.pid)) return undefined;
  const client = createRestClient(info.url);
  const healthy = await client.isHealthy();
  client.close();
  return healthy ? info : undefined;
}

/** Runs `work` with a connection and closes it whatever happens. Throws ORYX_NOT_FOUND when there is no workspace. */
export async function withConnection<T>(args: CommonArgs, cli: Cli, work: (connection: Connection) => Promise<T>): Promise<T> {
  const connection = await connect(args, cli);
  try {
    return await work(connection);
  } finally {
    await connection.close();
  }
}

/** Opens a connection; the caller closes it. Throws ORYX_NOT_FOUND when there is no workspace, and whatever starting a host throws. */
export async function connect(args: CommonArgs, cli: Cli): Promise<Connection> {
  const root = await resolveRoot(args, cli.host);
  const server = await findServer(root);
  if (server !== undefined) return toServer(server.url, root);
  if (!isWorkspace(root)) throw notFound(`There is no workspace at ${root}. Create one with "oryxos init".`);

  const config = resolveConfig(args, cli.host);
  try {
    const host = await cli.host.startHost({ root, mode: 'embedded', ...(config === undefined ? {} : { config }) });
    const client = createRestClient(host.url);
    const close = async (): Promise<void> => {
      client.close();
      await host.close();
    };
    return { client, root, warnings: host.warnings, close };
  } catch (error) {
    // Two commands at once: the one that lost the workspace can talk to the one that has it.
    if (!isOryxError(error) || error.code !== 'ORYX_WORKSPACE_BUSY') throw error;
    const owner = await findServer(root);
    if (owner === undefined) throw error;
    return toServer(owner.url, root);
  }
}

function toServer(url: string, root: string): Connection {
  const client = createRestClient(url);
  return { client, root, warnings: [], close: async () => client.close() };
}

async function writtenServer(root: string): Promise<ServerInfo | undefined> {
  try {
    const { pid, url } = JSON.parse(await readFile(join(root, 'server.json'), 'utf8')) as Record<string, unknown>;
    if (typeof pid !== 'number' || !Number.isInteger(pid) || pid <= 0 || typeof url !== 'string') return undefined;
    return { pid, url: reachable(url) };
  } catch {
    return undefined;
  }
}

/** A server on every address is reached over loopback. */
function reachable(url: string): string {
  const parsed = new URL(url);
  if (parsed.hostname === '0.0.0.0') parsed.hostname = '127.0.0.1';
  if (parsed.hostname === '[::]') parsed.hostname = '[::1]';
  return parsed.origin;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

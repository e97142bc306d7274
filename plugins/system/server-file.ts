/** `<root>/server.json`: tells other processes of this machine where the server of a workspace is. */
import { readFile, rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import type { Workspace } from '../workspace/contract.ts';

/** What stands in the file. */
export interface ServerRecord {
  readonly pid: number;
  /** Name of the machine. */
  readonly host: string;
  readonly url: string;
  readonly version: string;
  /** ISO-8601, UTC. */
  readonly startedAt: string;
  /** What kind of process owns the workspace, e.g. "serve". */
  readonly kind: string;
}

/** The record of this process. `startedAt` in epoch milliseconds. */
export const serverRecord = (parts: Pick<ServerRecord, 'url' | 'version' | 'kind'> & { readonly startedAt: number }): ServerRecord => ({
  pid: process.pid,
  host: hostname(),
  url: parts.url,
  version: parts.version,
  startedAt: new Date(parts.startedAt).toISOString(),
  kind: parts.kind,
});

/** Writes the record, readable by the owner only. */
export async function writeServerFile(workspace: Workspace, record: ServerRecord): Promise<void> {
  await workspace.writeFile(fileIn(workspace), `${JSON.stringify(record, null, 2)}\n`, { mode: 0o600 });
}

/** Removes the file if it still says what this process wrote; another server's record, or none, is left alone. */
export async function removeServerFile(workspace: Workspace, record: ServerRecord): Promise<void> {
  const text = await readFile(fileIn(workspace), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (text?.trim() === JSON.stringify(record, null, 2)) await rm(fileIn(workspace), { force: true });
}

const fileIn = (workspace: Workspace): string => workspace.path('server.json');

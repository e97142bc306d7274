/** Findings about the directory of a workspace: who can read it, and whether there is room. */
import { access, constants, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { failure, type Finding, fine, warning } from './finding.ts';

const MIB = 1024 * 1024;
const SCARCE_BYTES = 1024 * MIB;
const TOO_LITTLE_BYTES = 100 * MIB;
/** What nobody else may read, beside the directory itself. */
const PRIVATE_FILES = ['master.key', 'oryxos.db', 'application.yml', 'mcp_servers.yaml'];

/** Looks at modes and free space; changes nothing. */
export async function workspaceFindings(root: string): Promise<readonly Finding[]> {
  const { bavail, bsize } = await statfs(root);
  return [...(await rightsFindings(root)), diskFinding(bavail * bsize)];
}

/** @param freeBytes  that this user can still write where the workspace is */
export function diskFinding(freeBytes: number): Finding {
  const free = freeBytes >= 10 * SCARCE_BYTES ? `${Math.floor(freeBytes / SCARCE_BYTES)} GiB` : `${Math.floor(freeBytes / MIB)} MiB`;
  const advice = 'Free some space; a full disk stops every run.';
  if (freeBytes < TOO_LITTLE_BYTES) return failure(`Only ${free} are free on the disk of the workspace.`, advice);
  if (freeBytes < SCARCE_BYTES) return warning(`Only ${free} are free on the disk of the workspace.`, advice);
  return fine(`${free} are free on the disk of the workspace.`);
}

async function rightsFindings(root: string): Promise<readonly Finding[]> {
  const canWrite = await access(root, constants.W_OK).then(
    () => true,
    () => false,
  );
  if (!canWrite)
    return [failure(`The workspace ${root} cannot be written by this user.`, 'Run as its owner, or change the owner with chown -R.')];

  const open = await isOpen(root);
  // What stands in a directory that is closed to others is closed to them too, but for the key that is too little.
  const names = open ? PRIVATE_FILES : PRIVATE_FILES.slice(0, 1);
  const files = await Promise.all(names.map((name) => fileFinding(root, name)));
  return [
    open
      ? warning(`Other users of this machine can look into the workspace ${root}.`, `chmod 700 ${root}`)
      : fine(`Only its owner can look into the workspace ${root}.`),
    ...files.flat(),
  ];
}

async function fileFinding(root: string, name: string): Promise<readonly Finding[]> {
  const file = join(root, name);
  if (!(await isOpen(file))) return [];
  const what = `Other users of this machine can read ${name}.`;
  return [name === 'master.key' ? failure(what, `chmod 600 ${file}`) : warning(what, `chmod 600 ${file}`)];
}

const isOpen = async (path: string): Promise<boolean> => (((await stat(path).catch(() => undefined))?.mode ?? 0) & 0o077) !== 0;

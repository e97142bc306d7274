/** `oryxos backup` and `oryxos restore`: a workspace to one file, and back. */
import { constants, copyFile, rename, rm, stat } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { conflict } from '../../kernel/index.ts';
import { defineCommand } from './args.ts';
import { textCheck } from './checks.ts';
import type { Cli } from './cli.ts';
import { withConnection } from './connection.ts';
import { jsonOption } from './list-command.ts';
import { lineText } from './text.ts';
import type { BackupView } from './views.ts';
import { resolveRoot } from './workspace-root.ts';

/** A backup of a large workspace takes its time. */
const BACKUP_TIMEOUT_MS = 60 * 60_000;

/** Works with and without a running server; agents go on meanwhile. */
export const backupCommand = defineCommand({
  name: 'backup',
  summary: 'Back up the workspace to one verified file, while the server goes on',
  options: {
    out: { kind: 'text', value: 'FILE', help: 'where to; default: a new file in <root>/backups', check: textCheck },
    'with-key': { kind: 'flag', help: 'put master.key into it: whoever has the file has the secrets' },
    ...jsonOption,
  },
  examples: ['oryxos backup', 'oryxos backup --out ~/oryxos.tar --with-key'],
  run: (args, cli) =>
    withConnection(args, cli, async ({ client, root }) => {
      const out = args.out === undefined ? undefined : resolve(cli.host.cwd, args.out);
      const directory = out !== undefined && (await isDirectory(out));
      if (out !== undefined && !directory && existsSync(out)) throw conflict(`${out} exists already.`);
      const made = await client.post<BackupView>('/api/v1/backups', { withKey: args['with-key'] }, BACKUP_TIMEOUT_MS);
      const from = join(root, made.path);
      const file = out === undefined ? from : directory ? join(out, basename(from)) : out;
      if (file !== from) await move(from, file);
      if (args.json) return cli.out.json({ ...made, path: file });
      printBackup(made, file, args['with-key'], root, cli);
    }),
});

/** Never starts a host; what it does to a workspace is all or nothing. */
export const restoreCommand = defineCommand({
  name: 'restore',
  summary: 'Make a workspace of a backup; nothing is touched before all of it is verified',
  words: { file: { help: 'a file that "oryxos backup" has made', check: textCheck } },
  options: {
    into: { kind: 'text', value: 'DIR', help: 'the workspace to be; default: the one that --root means', check: textCheck },
    force: { kind: 'flag', help: 'move a workspace that is there aside' },
    ...jsonOption,
  },
  examples: ['oryxos restore ~/oryxos.tar', 'oryxos restore ~/oryxos.tar --into ./copy'],
  async run(args, cli) {
    const { host, out } = cli;
    const root = args.into === undefined ? await resolveRoot(args, host) : resolve(host.cwd, args.into);
    const done = await host.restore({ file: resolve(host.cwd, args.file), root, force: args.force });
    if (args.json) return out.json(done);
    out.line(`Restored ${done.files} files of ${done.createdAt} to ${lineText(root)}.`);
    if (done.aside !== null) out.line(`What stood there before is now ${lineText(done.aside)}.`);
    if (done.needsKey) {
      out.line(`The key of its secrets is not in the backup: put your copy into ${lineText(join(root, 'master.key'))} (chmod 600)`);
      out.line('or set ORYXOS_MASTER_KEY before you start it.');
    }
  },
});

function printBackup(made: BackupView, file: string, askedForKey: boolean, root: string, { out }: Cli): void {
  out.line(`Backed up ${made.files} files to ${lineText(file)} (${Math.ceil(made.bytes / 1024)} KiB), verified.`);
  for (const { path, reason } of made.skipped) out.line(`Left out ${lineText(path)}: ${lineText(reason)}.`);
  if (made.withKey) out.line('It holds the master key: whoever has the file has the secrets.');
  else if (askedForKey) out.line('There is no master.key in the workspace; keep what ORYXOS_MASTER_KEY holds.');
  else if (existsSync(join(root, 'master.key')))
    out.line(`Without the key stored secrets stay closed: keep a copy of ${lineText(join(root, 'master.key'))} apart.`);
}

async function isDirectory(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() === true;
}

/** Over the border of a file system too; never over a file that is there. */
async function move(from: string, to: string): Promise<void> {
  if (existsSync(to)) throw conflict(`${to} exists already; the backup is ${from}.`);
  try {
    await rename(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error;
    await copyFile(from, to, constants.COPYFILE_EXCL);
    await rm(from);
  }
}

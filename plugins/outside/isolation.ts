/** Separation of children from the machine with bubblewrap: found out once, then put in front of every command. */
import { execFile } from 'node:child_process';
import { lstat, readlink } from 'node:fs/promises';
import { promisify } from 'node:util';
import { messageOf } from '../../kernel/index.ts';
import type { Launch } from './child.ts';
import type { ConfinementView, IsolationStatus } from './processes-contract.ts';
import { findProgram } from './program.ts';
import { isBelow, writableMounts, workspaceMounts } from './workspace-mounts.ts';

const execute = promisify(execFile);
const PROBE_MS = 5_000;

/**
 * Own user, process, IPC, host name and control group namespaces, no capabilities; the child dies with its parent. The environment needs no
 * option: bubblewrap is started with the child's own, because its first process would show what it was started with.
 */
const SEPARATION =
  '--unshare-user --unshare-pid --unshare-ipc --unshare-uts --unshare-cgroup-try --die-with-parent --new-session --cap-drop ALL'.split(' ');
/** Keeps the child from making further user namespaces; bubblewrap has it since 0.8. */
const NO_NESTING = '--disable-userns';
const FRESH = ['--proc', '/proc', '--dev', '/dev', '--tmpfs', '/tmp'];
const SYSTEM_DIRECTORIES = ['/bin', '/sbin', '/lib', '/lib64', '/lib32', '/libx32'];
/** What programs need of /etc to run: libraries, certificates, names of services, the time zone. Nothing about users. */
const ETC = ['alternatives', 'ca-certificates', 'ssl', 'pki', 'ld.so.cache', 'ld.so.conf', 'ld.so.conf.d', 'localtime', 'nsswitch.conf'];

/** What one child may see and change. */
export interface Confines {
  /** Real path of the workspace, and of the agent's directory in it. */
  readonly root: string;
  readonly home: string;
  readonly view: ConfinementView;
}

/** How children are isolated in this process. */
export interface Isolation {
  readonly status: IsolationStatus;
  /** The command line that starts `launch` inside; as it is when children are not isolated. Never call it when `refuses`. */
  wrap(launch: Launch, confines: Confines): Promise<Launch>;
  /** No child may be started at all: `strict` is set and cannot be had. */
  readonly refuses: boolean;
}

/**
 * Finds out what this machine can do, by running `true` inside. Never rejects.
 *
 * @param find  how bubblewrap is looked up
 */
export async function findIsolation(setting: IsolationStatus['setting'], find = findProgram): Promise<Isolation> {
  if (setting === 'none') return unisolated(setting, 'shell.isolation is none');
  const found = await probe(find);
  if (typeof found === 'string') return unisolated(setting, found);
  const base = setting === 'strict' ? await strictBase() : ['--ro-bind', '/', '/', ...FRESH];
  const summary =
    setting === 'strict'
      ? 'Programs of the shell tool see only system folders and the file whitelist, and have no network.'
      : 'Programs of the shell tool may change only what is on the file whitelist; they can read the machine and use its network (shell.isolation: strict ends both).';
  return {
    status: { setting, isolated: true, warning: undefined, summary },
    refuses: false,
    wrap: async (launch, confines) => wrapped(launch, found, [...base, ...(await mountsFor(launch, confines))]),
  };
}

interface Bubblewrap {
  readonly file: string;
  readonly options: readonly string[];
}

/** bubblewrap and the options that work here, or why there are none. */
async function probe(find: typeof findProgram): Promise<Bubblewrap | string> {
  const [bubblewrap, program] = await Promise.all([find('bwrap'), find('true')]);
  if (bubblewrap === undefined || program === undefined) return 'bubblewrap is not installed';
  const { file } = bubblewrap;
  let reason = '';
  for (const options of [[...SEPARATION, NO_NESTING], SEPARATION]) {
    try {
      await execute(file, [...options, '--ro-bind', '/', '/', ...FRESH, '--', program.file], { env: {}, timeout: PROBE_MS });
      return { file, options };
    } catch (error) {
      reason ||= (error as { readonly stderr?: string }).stderr?.trim().split('\n').at(-1) || messageOf(error);
    }
  }
  return `bubblewrap does not work here (${reason})`;
}

function unisolated(setting: IsolationStatus['setting'], reason: string): Isolation {
  const refuses = setting === 'strict';
  const warning = refuses
    ? `The shell tool starts nothing: shell.isolation is strict and ${reason}.`
    : `Programs of the shell tool are not isolated: ${reason}. They can read and change whatever the server's user can.`;
  return { status: { setting, isolated: false, warning, summary: warning }, refuses, wrap: async (launch) => launch };
}

/** Only system folders, no network. Where /bin is a link into /usr it is one inside as well. */
async function strictBase(): Promise<readonly string[]> {
  const mounts = ['--unshare-net', '--ro-bind', '/usr', '/usr'];
  for (const directory of SYSTEM_DIRECTORIES) mounts.push(...(await sameAsOutside(directory)));
  for (const name of ETC) mounts.push('--ro-bind-try', `/etc/${name}`, `/etc/${name}`);
  return [...mounts, ...FRESH];
}

async function sameAsOutside(path: string): Promise<readonly string[]> {
  const stat = await lstat(path).catch(() => undefined);
  if (stat === undefined) return [];
  return stat.isSymbolicLink() ? ['--symlink', await readlink(path), path] : ['--ro-bind', path, path];
}

async function mountsFor({ file }: Launch, { root, home, view }: Confines): Promise<readonly string[]> {
  const program = isBelow('/usr', file) ? [] : ['--ro-bind', file, file];
  return [...program, ...(await writableMounts(view.writable, root)), ...(await workspaceMounts(root, home, view))];
}

function wrapped({ file, argv, cwd, env }: Launch, bubblewrap: Bubblewrap, mounts: readonly string[]): Launch {
  const inner = [...bubblewrap.options, ...mounts, '--chdir', cwd, '--', programFor(file, argv), ...argv.slice(1)];
  return Object.freeze({ file: bubblewrap.file, argv: Object.freeze([bubblewrap.file, ...inner]), cwd, env });
}

/** The file to start where its name cannot be given beside it: a program with several names is started under the one that was meant. */
export function programFor(file: string, [name = file]: readonly string[]): string {
  return file.slice(file.lastIndexOf('/')) === name.slice(name.lastIndexOf('/')) ? file : name;
}

/** Programs that run what their arguments or their input say. Who lists one allows everything that it can start. */
import { basename } from 'node:path';

/** A mark on an entry of the shell whitelist. */
export interface ShellRisk {
  readonly entry: string;
  readonly risk: string;
}

const RISK = 'interpreter/wrapper';

/** Interpreters and shells; a version may follow the name, as in python3.11. */
const INTERPRETERS =
  'sh ash bash dash zsh ksh fish tcsh csh busybox toybox python pypy perl ruby node nodejs deno bun php lua luajit tclsh wish expect awk gawk mawk nawk sed ed ex vi vim nvim emacs R Rscript julia ghc java jshell groovy scala erl elixir iex guile racket sbcl ocaml gdb lldb sqlite psql mysql pwsh';
/** Programs that start others. */
const WRAPPERS =
  'env xargs parallel find fd timeout nohup nice ionice setsid stdbuf time watch flock chroot unshare nsenter setpriv runuser su sudo doas pkexec ssh scp sftp rsync docker podman kubectl systemd-run at batch crontab screen tmux script strace ltrace git tar zip make cmake ninja npm npx yarn pnpm pip pipx uv cargo go gcc cc clang ld man less more nmap tcpdump socat nc ncat start-stop-daemon bwrap prlimit taskset chrt numactl run-parts split sort'.split(
    ' ',
  );
const WRAPPER_NAMES = new Set(WRAPPERS);
const INTERPRETER = new RegExp(`^(${INTERPRETERS.split(' ').join('|')})[0-9.]*$`);

/** The entries that are marked, in their order. */
export const risksOf = (entries: readonly string[]): readonly ShellRisk[] =>
  entries.filter((entry) => isRisky(basename(entry))).map((entry) => ({ entry, risk: RISK }));

const isRisky = (name: string): boolean => WRAPPER_NAMES.has(name) || INTERPRETER.test(name);

/** The `fs` operations of a case's set-up. */
import { execFileSync } from 'node:child_process';
import { appendFileSync, chmodSync, linkSync, mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { Unsupported } from './corpus.ts';

/** Performs the operations in order; paths are absolute, placeholders filled in. Resolves with what has to be closed afterwards. */
export async function prepareFiles(operations: readonly (readonly unknown[])[]): Promise<readonly (() => Promise<void>)[]> {
  const closers: (() => Promise<void>)[] = [];
  for (const [name, ...args] of operations) {
    const [first = '', second = ''] = args.map(String) as [string?, string?];
    const operation = OPERATIONS[String(name)];
    if (name === 'unixsock') closers.push(await listening(first));
    else if (operation) operation(first, second, args);
    else throw new Unsupported(`setup fs ${String(name)}`);
  }
  return closers;
}

type Operation = (first: string, second: string, args: readonly unknown[]) => void;

const OPERATIONS: Readonly<Record<string, Operation>> = {
  mkdir: (path) => void mkdirSync(path, { recursive: true }),
  write: (path, content) => into(path, () => writeFileSync(path, content)),
  append: (path, content) => appendFileSync(path, content),
  writehex: (path, hex) => into(path, () => writeFileSync(path, Buffer.from(hex, 'hex'))),
  symlink: (target, path) => into(path, () => symlinkSync(target, path)),
  hardlink: (target, path) => into(path, () => linkSync(target, path)),
  fifo: (path) => void execFileSync('mkfifo', [path]),
  truncate: (path, size) =>
    into(path, () => {
      writeFileSync(path, '');
      truncateSync(path, Number(size));
    }),
  exec: (path, script) =>
    into(path, () => {
      writeFileSync(path, script.startsWith('#!') ? script : `#!/bin/sh\n${script}\n`);
      chmodSync(path, 0o755);
    }),
  gitrepo: (path) => void execFileSync('git', ['init', '-q', path]),
  deepdirs: (path, count) => void mkdirSync(join(path, ...Array.from({ length: Number(count) }, () => 'd')), { recursive: true }),
  manyfiles: (path, count) => {
    mkdirSync(path, { recursive: true });
    for (let number = 0; number < Number(count); number += 1) writeFileSync(join(path, `f${number}`), '');
  },
};

function into(path: string, make: () => void): void {
  mkdirSync(dirname(path), { recursive: true });
  make();
}

async function listening(path: string): Promise<() => Promise<void>> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(path, resolve));
  return () => new Promise((resolve) => void server.close(() => resolve()));
}

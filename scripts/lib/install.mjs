/** Packages: installed only when the lockfile or the Node that they were built for has changed. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SetupFailure } from './failure.mjs';
import { installProblem } from './install-problem.mjs';
import { run } from './run.mjs';
import { dropStamp, hashOf, readStamp, sameStamp, writeStamp } from './stamp.mjs';

const stampFile = (root) => join(root, 'node_modules', '.oryxos-setup.json');

/**
 * What the packages have to be made from: the lockfile's content and the Node that runs now.
 *
 * @returns {{ lock: string, abi: string, platform: string, node: string }}
 */
export function installKey(root, versions = process.versions) {
  const lockfile = join(root, 'package-lock.json');
  const from = existsSync(lockfile) ? lockfile : join(root, 'package.json');
  return {
    lock: hashOf([readFileSync(from)]),
    abi: versions.modules,
    platform: `${process.platform}-${process.arch}`,
    node: versions.node,
  };
}

/**
 * What has to be done: nothing, an install, or only a build of the native parts for another Node.
 *
 * @returns {'nothing' | 'install' | 'rebuild'}
 */
export function needsInstall(root, key = installKey(root)) {
  const stamp = readStamp(stampFile(root));
  const { lock, abi, platform } = key;
  if (sameStamp(stamp, { lock, abi, platform })) return 'nothing';
  return sameStamp(stamp, { lock, platform }) ? 'rebuild' : 'install';
}

/**
 * Brings `node_modules` up to date. Call it under the lock.
 *
 * @param {string} root
 * @param {(line: string) => void} print
 * @throws {SetupFailure}
 */
export async function install(root, print) {
  const key = installKey(root);
  const need = needsInstall(root, key);
  if (need === 'nothing') return;
  if (need === 'install' && (await isInstalledAlready(root))) {
    writeStamp(stampFile(root), key);
    return;
  }
  const built = readStamp(stampFile(root));
  dropStamp(stampFile(root));
  if (need === 'rebuild') {
    print(
      `The packages were built for Node ${built?.node}, this is Node ${key.node}: rebuilding (npm rebuild better-sqlite3). Compiling SQLite takes about 90 s, once.`,
    );
    await npm(root, ['rebuild', 'better-sqlite3', 'esbuild'], print);
  } else {
    print('Installing packages. Where SQLite has no ready-made binary it is compiled here: about 90 s, once.');
    const verb = existsSync(join(root, 'package-lock.json')) ? 'ci' : 'install';
    await npm(root, [verb, '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'], print);
  }
  await requireSqlite(root);
  writeStamp(stampFile(root), key);
}

/**
 * Whether somebody has run npm by hand: every package of the lockfile is there in its version, and SQLite loads in this Node.
 * Then there is nothing to install, only a stamp to write.
 */
async function isInstalledAlready(root) {
  const wanted = packagesOf(join(root, 'package-lock.json'));
  const present = packagesOf(join(root, 'node_modules', '.package-lock.json'));
  if (wanted === undefined || present === undefined) return false;
  const missing = Object.entries(wanted).some(([path, entry]) => {
    if (path === '' || entry.link === true) return false;
    const found = present[path];
    return found === undefined ? entry.optional !== true : found.version !== entry.version;
  });
  return !missing && (await sqliteProblem(root)) === undefined;
}

function packagesOf(lockfile) {
  return readStamp(lockfile)?.packages;
}

async function requireSqlite(root) {
  const problem = await sqliteProblem(root);
  if (problem === undefined) return;
  throw new SetupFailure(
    `SQLite (better-sqlite3) does not load in Node ${process.versions.node}. Try: npm rebuild better-sqlite3`,
    problem,
  );
}

async function sqliteProblem(root) {
  if (!existsSync(join(root, 'node_modules', 'better-sqlite3')))
    return packageNeedsSqlite(root) ? 'better-sqlite3 is not installed' : undefined;
  const { code, output } = await run(process.execPath, ['-e', "new (require('better-sqlite3'))(':memory:').close()"], { cwd: root });
  return code === 0 ? undefined : output;
}

function packageNeedsSqlite(root) {
  return readStamp(join(root, 'package.json'))?.dependencies?.['better-sqlite3'] !== undefined;
}

async function npm(root, args, print) {
  const { file, before } = npmCommand();
  const result = await run(file, [...before, ...args], {
    cwd: root,
    onTick: (seconds) => print(`  … still at it, ${seconds} s`),
  }).catch((error) => {
    throw new SetupFailure(`npm cannot be started (${error.code ?? error.message}). It comes with Node.js: https://nodejs.org`);
  });
  if (result.code !== 0) throw new SetupFailure(installProblem(result.output), result.output);
  print(`Packages are ready (${Math.round(result.seconds)} s).`);
}

/** The npm that runs this script, else the one on the PATH. */
function npmCommand() {
  const running = process.env.npm_execpath;
  if (running?.endsWith('npm-cli.js') && existsSync(running)) return { file: process.execPath, before: [running] };
  return { file: 'npm', before: [] };
}

/** The build: tsc over the sources, only when one of them has changed. */
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { SetupFailure } from './failure.mjs';
import { run } from './run.mjs';
import { dropStamp, hashOf, readStamp, sameStamp, writeStamp } from './stamp.mjs';

const stampFile = (root) => join(root, 'dist', '.oryxos-build.json');
const ENTRY = ['dist', 'config', 'bin.js'];

/**
 * The TypeScript sources that tsconfig.json names, relative to the root and sorted.
 *
 * @returns {readonly string[]}
 */
export function sourcesOf(root) {
  const { include = [], exclude = [] } = readStamp(join(root, 'tsconfig.json')) ?? {};
  const found = [];
  const walk = (directory) => {
    for (const entry of readdirSync(join(root, directory), { withFileTypes: true })) {
      const path = `${directory}/${entry.name}`;
      if (exclude.includes(path) || entry.name === 'node_modules') continue;
      if (entry.isDirectory()) walk(path);
      else if (/\.[cm]?ts$/.test(entry.name)) found.push(path);
    }
  };
  for (const directory of include) if (existsSync(join(root, directory))) walk(directory);
  return found.sort((a, b) => (a < b ? -1 : 1));
}

/**
 * What a build is made from: name and content of every source, and how they are compiled.
 *
 * @returns {{ sources: string }}
 */
export function buildKey(root, sources = sourcesOf(root)) {
  const settings = ['tsconfig.json', 'package-lock.json'].filter((file) => existsSync(join(root, file)));
  const parts = [...settings, ...sources].flatMap((file) => [file, readFileSync(join(root, file))]);
  return { sources: hashOf(parts) };
}

/** @returns {boolean} whether `dist` was made from other sources, or not finished */
export function needsBuild(root, key = buildKey(root)) {
  return !sameStamp(readStamp(stampFile(root)), key) || !existsSync(join(root, ...ENTRY));
}

/**
 * Compiles into `dist`, in place: a server that runs from it keeps what it has loaded. Nothing is written when a source has an error.
 * Call it under the lock.
 *
 * @param {string} root
 * @param {(line: string) => void} print
 * @throws {SetupFailure} with the compiler's messages
 */
export async function build(root, print) {
  const sources = sourcesOf(root);
  const key = buildKey(root, sources);
  dropStamp(stampFile(root));
  print('Building.');
  const tsc = join(root, 'node_modules', '.bin', 'tsc');
  const result = await run(tsc, ['-p', 'tsconfig.json', '--noEmitOnError', '--pretty', 'false'], { cwd: root });
  if (result.code !== 0) throw new SetupFailure('The sources do not compile.', result.output);
  prune(root, sources);
  const entry = join(root, ...ENTRY);
  if (existsSync(entry)) chmodSync(entry, 0o755);
  writeStamp(stampFile(root), key);
  print(`Built (${result.seconds.toFixed(1)} s).`);
}

/** Removes the output of sources that are no more: a deleted test must not run on. */
function prune(root, sources) {
  const dist = join(root, 'dist');
  const kept = new Set(sources.map((source) => source.replace(/\.([cm]?)ts$/, '.$1js')));
  const walk = (directory) => {
    for (const entry of readdirSync(directory, { withFileTypes: true })) {
      const path = join(directory, entry.name);
      if (entry.isDirectory()) walk(path);
      else if (/\.(?:[cm]?js|d\.[cm]?ts)(?:\.map)?$/.test(entry.name) && !kept.has(scriptOf(relative(dist, path)))) rmSync(path);
    }
  };
  for (const top of readStamp(join(root, 'tsconfig.json'))?.include ?? []) {
    if (statSync(join(dist, top), { throwIfNoEntry: false })?.isDirectory()) walk(join(dist, top));
  }
}

/** The script that an output belongs to: `a.d.ts`, `a.js.map` and `a.js` all belong to `a.js`. */
function scriptOf(output) {
  return output
    .split(sep)
    .join('/')
    .replace(/\.map$/, '')
    .replace(/\.d\.([cm]?)ts$/, '.$1js');
}

/** Reads a CPU profile: where the time was spent, by module. */
import { readFile } from 'node:fs/promises';

interface ProfileNode {
  readonly id: number;
  readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
}

interface CpuProfile {
  readonly nodes: readonly ProfileNode[];
  readonly samples: readonly number[];
  /** Microseconds since the sample before. */
  readonly timeDeltas: readonly number[];
}

const SHOWN_FUNCTIONS = 60;

/**
 * Lines of text: self time by module, then by function, in microseconds a turn.
 *
 * @param turns  how many turns the profile covers
 */
export async function selfTimes(file: string, turns: number): Promise<readonly string[]> {
  const { nodes, samples, timeDeltas } = JSON.parse(await readFile(file, 'utf8')) as CpuProfile;
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const modules = new Map<string, number>();
  const functions = new Map<string, number>();
  let totalMicros = 0;
  for (const [index, id] of samples.entries()) {
    const node = byId.get(id);
    const micros = timeDeltas[index] ?? 0;
    if (node === undefined || node.callFrame.functionName === '(idle)') continue;
    const { functionName, url, lineNumber } = node.callFrame;
    const module = moduleOf(functionName, url);
    totalMicros += micros;
    modules.set(module, (modules.get(module) ?? 0) + micros);
    const name = `${module}  ${functionName || '(anonymous)'}${url === '' ? '' : ` :${lineNumber + 1}`}`;
    functions.set(name, (functions.get(name) ?? 0) + micros);
  }
  const lines = (found: ReadonlyMap<string, number>, limit: number): readonly string[] =>
    [...found]
      .sort(([, a], [, b]) => b - a)
      .slice(0, limit)
      .map(
        ([name, micros]) =>
          `${(micros / turns).toFixed(1).padStart(8)} µs ${((micros * 100) / totalMicros).toFixed(1).padStart(5)} %  ${name}`,
      );
  return [
    `${(totalMicros / turns).toFixed(0)} µs a turn`,
    '',
    ...lines(modules, Number.POSITIVE_INFINITY),
    '',
    ...lines(functions, SHOWN_FUNCTIONS),
  ];
}

/** A package, a built-in module of Node, a file of ours, or what the engine does by itself. */
function moduleOf(functionName: string, url: string): string {
  if (url === '') return functionName.startsWith('(') ? functionName : 'native';
  const vendor = /\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1];
  if (vendor !== undefined) return vendor;
  if (url.startsWith('node:')) return url.split('/').slice(0, 3).join('/');
  return /\/((?:kernel|plugins|adapters|config|test)\/.*)\.[jt]s$/.exec(url)?.[1] ?? url;
}

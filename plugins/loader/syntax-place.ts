/** Where a module has its syntax error: Node keeps that to itself until it ends the process. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Script } from 'node:vm';
import { codeOf } from './package-hash.ts';

/**
 * " (lib/tool.js:12)", or "" when it cannot be told. Each file is compiled once more as a script whose imports and exports are blanked out,
 * and not run; a place counts when the error is the very same. In a function too, since a script must not `await` at its top.
 */
export async function syntaxPlace(thrown: SyntaxError, directory: string): Promise<string> {
  for (const file of await codeOf(directory)) {
    if (!/\.m?js$/.test(file)) continue;
    const source = await readFile(join(directory, file), 'utf8').catch(() => '');
    for (const script of [asScript(source), `(async () => {${asScript(source)}\n})`]) {
      const problem = compileProblem(script, file);
      const line = /:(\d+)\n/.exec(problem?.stack ?? '')?.[1];
      if (problem?.message === thrown.message && line !== undefined) return ` (${file}:${line})`;
    }
  }
  return '';
}

/** The same lines, without what only a module may have. */
function asScript(source: string): string {
  const blank = (text: string): string => text.replaceAll(/[^\n]/g, ' ');
  const body = source
    .replaceAll(/^[ \t]*import\b(?!\s*[.(])[^'"`;]*['"][^'"\n]*['"][^\n;]*;?/gm, blank)
    .replaceAll(/^[ \t]*export\s*(?:\*[^'"\n;]*?|\{[^}]*\})(?:\s*from\s*['"][^'"\n]*['"])?[ \t]*;?/gm, blank)
    .replaceAll(/^([ \t]*)export\s+default\b/gm, (_, space: string) => `${space}void     `)
    .replaceAll(/^([ \t]*)export\b/gm, (_, space: string) => `${space}      `)
    .replaceAll('import.meta', '({})       ');
  return `'use strict'; ${body}`;
}

function compileProblem(source: string, filename: string): Error | undefined {
  try {
    void new Script(source, { filename });
    return undefined;
  } catch (error) {
    return error as Error;
  }
}

/**
 * `node scripts/api-page.mjs`: writes docs/api.md from the declarations of the built package, so build first. `--check` only compares, and
 * ends with 1 when the page is not current. `--package DIR` takes the declarations from another place.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const projectRoot = dirname(dirname(fileURLToPath(import.meta.url)));
const page = join(projectRoot, 'docs', 'api.md');

const INTRO = `# API for plugins

What \`oryxos\`, \`oryxos/http\`, \`oryxos/outside\` and \`oryxos/testing\` export, made from the comments in the sources by \`scripts/api-page.mjs\`.
A plugin is written with [definePlugin](#defineplugin); its \`setup\` gets a [Context](#context). \`examples/oryxos-plugin-hello\` is a complete one.

A plugin adds services and extension points of its own by extending the module \`oryxos\`:

\`\`\`ts
declare module 'oryxos' {
  interface Services {
    greeter: { greet(who: string): string };
  }
}
\`\`\`
`;

/** Every exported declaration of a module, its re-exports included, by the file that declares it. `wanted` holds names; undefined for all. */
function sectionsOf(file, wanted) {
  const statements = statementsOf(readFileSync(file, 'utf8'));
  const own = statements.filter(({ name, isExported }) => isExported && (wanted === undefined || wanted.has(name)));
  const added = statements.filter(({ text }) => text.startsWith('declare module'));
  const sections = own.length > 0 ? [{ file, intro: introOf(file), statements: [...own, ...added] }] : [];
  for (const [next, picked] of reExportsOf(statements, wanted)) sections.push(...sectionsOf(join(dirname(file), next), picked));
  return sections;
}

/** The files that a module hands on from, and what of them; undefined for everything. */
function reExportsOf(statements, wanted) {
  const found = new Map();
  for (const { text } of statements) {
    const [, names, from] = /^export (\*|\{[^}]*\}|type \{[^}]*\}) from '(\.[^']+)'/.exec(text) ?? [];
    if (from === undefined) continue;
    const file = from.replace(/\.(ts|js)$/, '.d.ts');
    const named = names === '*' ? wanted : new Set(names.replaceAll(/type |[{}\s]/g, '').split(','));
    const picked = wanted && named ? new Set([...named].filter((name) => wanted.has(name))) : named;
    if (picked?.size === 0) continue;
    found.set(file, picked && new Set([...(found.get(file) ?? []), ...picked]));
  }
  return found;
}

/** Takes a file of declarations apart: each statement with the comment before it. */
function statementsOf(source) {
  const found = [];
  let comment = '';
  let at = 0;
  while (at < source.length) {
    if (/\s/.test(source[at])) at += 1;
    else if (source.startsWith('//', at)) at = endOf(source, '\n', at);
    else if (source.startsWith('/*', at)) {
      const end = endOf(source, '*/', at);
      comment = source.slice(at, end);
      at = end;
    } else {
      const end = endOfStatement(source, at);
      const text = source.slice(at, end);
      const name = /^export (?:declare )?(?:abstract )?(?:interface|type|class|function|const) ([\w$]+)/.exec(text)?.[1];
      found.push({ text, comment, name, isExported: name !== undefined });
      comment = '';
      at = end;
    }
  }
  return found;
}

/** The index after a semicolon outside of all brackets, or after the block of what has one. */
function endOfStatement(source, start) {
  const hasBlock = /^(?:export )?(?:declare )?(?:abstract )?(?:interface|class|module)\b/.test(source.slice(start, start + 40));
  let depth = 0;
  for (let at = start; at < source.length; at += 1) {
    const character = source[at];
    if (source.startsWith('/*', at)) at = endOf(source, '*/', at) - 1;
    else if (source.startsWith('//', at)) at = endOf(source, '\n', at) - 1;
    else if ('\'"`'.includes(character)) at = endOf(source, character, at + 1) - 1;
    else if ('{(['.includes(character)) depth += 1;
    else if ('})]'.includes(character)) depth -= 1;
    if (depth === 0 && (character === ';' || (hasBlock && character === '}'))) return at + 1;
  }
  return source.length;
}

function endOf(source, mark, from) {
  const index = source.indexOf(mark, from);
  return index < 0 ? source.length : index + mark.length;
}

/** The comment at the top of the source; the compiler does not always keep it. */
function introOf(file) {
  const source = join(projectRoot, file.slice(file.lastIndexOf('/dist/') + '/dist/'.length).replace(/\.d\.ts$/, '.ts'));
  return /^(\/\*\*(?:[^*]|\*(?!\/))*\*\/)\n(?:\n|import |export [*{]|\/\*)/.exec(readFileSync(source, 'utf8'))?.[1] ?? '';
}

/** A comment as Markdown: tags become words. */
function markdownOf(comment) {
  const lines = comment
    .replace(/^\/\*\*?/, '')
    .replace(/\*\/$/, '')
    .split('\n')
    .map((line) => line.replace(/^\s*\* ?/, '').trimEnd());
  return lines
    .join('\n')
    .trim()
    .replaceAll(/^@param (\S+)\s+/gm, '- `$1`: ')
    .replaceAll(/^@returns?\s+/gm, 'Returns ')
    .replaceAll(/^@throws\s+/gm, 'Throws ')
    .replaceAll(/^@example\s*$/gm, '');
}

function codeOf({ text }) {
  const code = text
    .replace(/^export declare /, 'export ')
    .replace(/^declare module '[^']*kernel\/index\.ts'/, "declare module 'oryxos'")
    .replaceAll(/^( {4})+/gm, (indent) => ' '.repeat(indent.length / 2));
  return ['```ts', code, '```'].join('\n');
}

function chapter(title, file) {
  const sections = sectionsOf(file);
  const parts = [`## \`${title}\``];
  if (!sections.some((section) => section.file === file)) parts.push(markdownOf(introOf(file)));
  for (const section of sections) {
    const name = basename(section.file).replace(/\.d\.ts$/, '');
    parts.push(`### ${name === 'contract' ? basename(dirname(section.file)) : name}`, markdownOf(section.intro));
    for (const statement of section.statements) {
      if (statement.name === undefined) parts.push(codeOf(statement));
      else parts.push(`#### ${statement.name}`, markdownOf(statement.comment), codeOf(statement));
    }
  }
  return parts.filter((part) => part !== '').join('\n\n');
}

/** @param {string} directory of the package, with its declarations in `dist` @returns {string} the page */
export function apiPage(directory) {
  const { exports } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'));
  const chapters = Object.entries(exports).map(([path, { types }]) => chapter(join('oryxos', path), join(directory, types)));
  return `${[INTRO.trimEnd(), ...chapters].join('\n\n')}\n`.replaceAll(/\n{3,}/g, '\n\n');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const args = process.argv.slice(2);
  const place = args.indexOf('--package');
  const text = apiPage(place < 0 ? projectRoot : args[place + 1]);
  if (!args.includes('--check')) writeFileSync(page, text);
  else if (readFileSync(page, 'utf8') !== text) {
    console.error('docs/api.md is not current: run "npm run build" and "node scripts/api-page.mjs".');
    process.exitCode = 1;
  }
}

/** Reads one YAML document with exact positions, and refuses what could hurt the process. */
import { Composer, type Document, isAlias, LineCounter, Parser, visit } from 'yaml';

/** Deepest nesting of lists and maps. Deeper input overflows the stack of a recursive composer, and V8 may then end the process. */
const MAX_DEPTH = 64;
/** How much repetition through aliases is allowed. */
const MAX_ALIASES = 20;

/** What is wrong, at a character offset of the source. */
export interface YamlFault {
  readonly message: string;
  readonly offset: number;
}

/** A document that was read, or the first fault. */
export type YamlReading =
  | {
      readonly ok: true;
      readonly document: Document.Parsed;
      readonly value: unknown;
      readonly lines: LineCounter;
      readonly warnings: readonly YamlFault[];
    }
  | { readonly ok: false; readonly fault: YamlFault; readonly lines: LineCounter };

/** Reads YAML 1.2 with the core schema: no duplicate keys, no merge keys, no alias bombs, one document. Never throws. */
export function readYaml(source: string): YamlReading {
  const lines = new LineCounter();
  const failed = (message: string, offset: number): YamlReading => ({ ok: false, fault: { message, offset }, lines });
  const tokens = [...new Parser(lines.addNewLine).parse(source)];
  const deep = tooDeep(tokens);
  if (deep !== undefined) return failed(`lists and maps are nested more than ${MAX_DEPTH} levels deep`, deep);

  const documents = [
    ...new Composer({ version: '1.2', schema: 'core', uniqueKeys: true, merge: false, prettyErrors: false }).compose(
      tokens,
      true,
      source.length,
    ),
  ];
  const document = documents[0];
  if (document === undefined) return failed('there is no YAML', 0);
  // A tab makes the lines around it look wrong as well.
  const errors = document.errors.toSorted((a, b) => a.pos[0] - b.pos[0]);
  const first = errors.find(({ code }) => code === 'TAB_AS_INDENT') ?? errors[0];
  if (first !== undefined) return failed(`${first.message}${HINTS[first.code] ?? ''}`, first.pos[0]);
  const second = documents[1];
  if (second !== undefined) return failed('there is more than one YAML document', second.range?.[0] ?? 0);

  try {
    const value: unknown = document.toJS({ maxAliasCount: MAX_ALIASES });
    const warnings = document.warnings.map((warning) => ({ message: warning.message, offset: warning.pos[0] }));
    return { ok: true, document, value, lines, warnings };
  } catch (error) {
    return failed(error instanceof Error ? error.message : String(error), offsetOfFirstAlias(document));
  }
}

/** What usually helps, for the mistakes that people make most. */
const HINTS: Readonly<Record<string, string>> = {
  BAD_ALIAS: ' (put a value that starts with * or & in quotes)',
  BAD_SCALAR_START: ' (put the value in quotes)',
  BLOCK_AS_IMPLICIT_KEY: ' (put a value that contains ": " in quotes)',
  TAB_AS_INDENT: ' (use spaces)',
};

interface Token {
  readonly offset?: number;
  readonly value?: unknown;
  readonly items?: readonly { readonly key?: unknown; readonly value?: unknown }[];
}

/** Offset of the first token that is nested too deeply. A loop, not a recursion: the depth is what is being checked. */
function tooDeep(tokens: readonly unknown[]): number | undefined {
  const open: [token: unknown, depth: number, offset: number][] = tokens.map((token) => [token, 0, 0]);
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [token, depth, outer] = next;
    if (typeof token !== 'object' || token === null) continue;
    const { offset = outer, value, items } = token as Token;
    if (depth > MAX_DEPTH) return offset;
    open.push([value, depth, offset]);
    for (const item of items ?? []) open.push([item.key, depth + 1, offset], [item.value, depth + 1, offset]);
  }
  return undefined;
}

function offsetOfFirstAlias(document: Document.Parsed): number {
  let offset = 0;
  visit(document, {
    Alias(_key, node) {
      if (!isAlias(node)) return undefined;
      offset = node.range?.[0] ?? 0;
      return visit.BREAK;
    },
  });
  return offset;
}

/** A command line as a model writes it, taken apart without a shell. */
import { split } from 'shlex';

/** What was found in a command line, or why it cannot be run. The reason is a whole sentence without its full stop. */
export type CommandLine =
  | { readonly ok: true; readonly executable: string; readonly arguments: readonly string[] }
  | { readonly ok: false; readonly reason: string };

/** Mean something to a shell wherever they stand unquoted. */
const OPERATORS = ';|&<>()$`\n\r';
const WILDCARDS = '*?[';
/** Mean something at the beginning of a word only. */
const AT_START = '~#';

/** Splits at blanks; quotes and backslashes work as in a POSIX shell. What a shell would interpret is refused rather than passed on. */
export function commandLine(text: string): CommandLine {
  const syntax = shellSyntax(text);
  if (syntax !== undefined) {
    return {
      ok: false,
      reason: `no shell syntax: no shell is involved, so ${JSON.stringify(syntax)} has no meaning here; put it in single quotes if it is meant as it stands, or make one call per program`,
    };
  }
  try {
    const [executable, ...args] = split(text);
    if (executable === undefined) return { ok: false, reason: 'command is blank' };
    return { ok: true, executable, arguments: args };
  } catch {
    return { ok: false, reason: 'command ends inside quotes or after a backslash' };
  }
}

/** The first character that a shell would interpret; single quotes hide everything, double quotes all but `$` and the backtick. */
function shellSyntax(text: string): string | undefined {
  let quote = '';
  let atStart = true;
  for (let index = 0; index < text.length; index += 1) {
    const character = text.charAt(index);
    if (quote === "'") {
      if (character === "'") quote = '';
      continue;
    }
    if (quote === '"') {
      if ('$`'.includes(character)) return character;
      if (character === '\\' && !'$`'.includes(text.charAt(index + 1))) index += 1;
      if (character === '"') quote = '';
      continue;
    }
    if (OPERATORS.includes(character) || WILDCARDS.includes(character) || (atStart && AT_START.includes(character))) return character;
    atStart = character === ' ' || character === '\t';
    if (character === '\\') index += 1;
    if (character === "'" || character === '"') quote = character;
  }
  return undefined;
}

/** Wording that all refusals of the sandbox share. */
import type { Refusal } from '../../kernel/index.ts';
import { refuse } from '../../kernel/index.ts';
import { printable } from '../outside/contract.ts';

const MAX_SHOWN = 300;

/** A refusal by the sandbox. */
export const refused = (message: string): Refusal => refuse('sandbox', message);

/** What a caller gave, in quotes, on one line and not endlessly. */
export function quoted(text: string): string {
  const shown = printable(text);
  return `"${shown.length > MAX_SHOWN ? `${shown.slice(0, MAX_SHOWN)}…` : shown}"`;
}

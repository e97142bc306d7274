/** What administrators write on the whitelists, in the form in which it is stored and judged. */
import { isAbsolute, resolve } from 'node:path';
import { invalidInput, messageOf } from '../../kernel/index.ts';
import { ProjectionProblem, hasControlCharacters, project } from '../outside/contract.ts';
import { domainRule, domainText } from './domain-rule.ts';
import { isInside } from './is-inside.ts';
import { isProgramName } from './program-name.ts';
import type { Category } from './whitelist-repository.ts';

/** The configuration's word for the workspace, wherever that is. */
const WORKSPACE = '.oryxos';

/** Where relative paths start, and whether they may leave that directory. */
export interface Base {
  readonly root: string;
  readonly directory: string;
  readonly mayLeave: boolean;
}

/** A value in its canonical form. Throws ORYX_INVALID_INPUT that says what is wrong with it. */
export async function canonicalEntry(category: Category, value: string, base: Base): Promise<string> {
  if (value.trim() === '') throw invalidInput('value must not be blank');
  if (hasControlCharacters(value)) throw invalidInput('value must not contain control characters');
  if (category === 'FILE') return fileEntry(value, base);
  return category === 'SHELL' ? shellEntry(value) : domainText(domainRule(value));
}

async function fileEntry(value: string, { root, directory, mayLeave }: Base): Promise<string> {
  if (value === WORKSPACE) return root;
  if (value.startsWith('~')) throw invalidInput('value must be an absolute path: "~" is not expanded');
  if (!mayLeave && !isAbsolute(value) && !isInside(directory, resolve(directory, value))) {
    throw invalidInput('value must be an absolute path: a relative one starts at the workspace and must stay inside it');
  }
  try {
    return (await project(value, directory)).real;
  } catch (error) {
    if (!(error instanceof ProjectionProblem)) throw error;
    throw invalidInput(`value cannot be put on the file whitelist: the path ${messageOf(error)}`);
  }
}

function shellEntry(value: string): string {
  const isPath = isAbsolute(value) && !/\s/.test(value);
  if (isProgramName(value) || isPath) return value;
  throw invalidInput('value must be the name of a program ("ls") or an absolute path, without arguments and blanks');
}

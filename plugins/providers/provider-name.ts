/** Names of what administrators register: providers, and channels to people. */
import { invalidInput } from '../../kernel/index.ts';

const NAME = /^[A-Za-z0-9_-]{1,64}$/;

/** The name itself. Throws ORYX_INVALID_INPUT unless it has 1 to 64 letters, digits, `_` and `-`. */
export function checkedName(name: string): string {
  if (name.trim() === '') throw invalidInput('name must not be blank.');
  if (!NAME.test(name)) throw invalidInput('name must consist of 1 to 64 letters, digits, "_" and "-".');
  return name;
}

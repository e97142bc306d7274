/** Values that must not stand on the command line, where the shell's history and the process list would keep them. */
import { invalidInput } from '../../kernel/index.ts';
import type { CliHost } from './cli-host.ts';
import { askSecret, isInteractive, readAll } from './prompt.ts';

/** Where a secret comes from. */
export interface SecretSource {
  readonly stdin?: boolean;
  /** Name of an environment variable. */
  readonly variable?: string | undefined;
  /** What a person at a terminal is asked, if neither of the others is given. */
  readonly question: string;
}

/** The secret, trimmed; "" when there is none. Throws ORYX_INVALID_INPUT for a variable that is not set. */
export async function secretInput({ stdin = false, variable, question }: SecretSource, host: CliHost): Promise<string> {
  if (stdin) return (await readAll(host)).trim();
  if (variable !== undefined) {
    const value = host.env[variable]?.trim();
    if (!value) throw invalidInput(`The environment variable ${variable} is not set.`);
    return value;
  }
  return isInteractive(host) ? (await askSecret(host, question)).trim() : '';
}

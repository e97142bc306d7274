/** What a running command holds. */
import type { CliHost } from './cli-host.ts';
import type { Output } from './output.ts';

/** The surroundings of one command. */
export interface Cli {
  readonly host: CliHost;
  readonly out: Output;
}

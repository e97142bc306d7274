/** A command line that cannot be run as typed: exit code 2. */
export class UsageError extends Error {
  /** The command whose help explains it, e.g. "provider add"; empty for the program itself. */
  readonly command: string;
  constructor(message: string, command = '') {
    super(message);
    this.name = 'UsageError';
    this.command = command;
  }
}

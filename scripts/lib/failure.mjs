/** A set-up that cannot go on; the message is for the person who typed the command. */
export class SetupFailure extends Error {
  /** @param {string} message @param {string} [details] output of the program that failed */
  constructor(message, details = '') {
    super(message);
    this.name = 'SetupFailure';
    this.details = details;
  }
}

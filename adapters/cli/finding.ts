/** What `oryxos doctor` finds. */

/** One finding. `error`: something does not work. `warn`: it works, and there is a reason to look at it. */
export interface Finding {
  readonly level: 'ok' | 'warn' | 'error';
  /** One sentence. */
  readonly what: string;
  /** What to do about it, a sentence or a command; null when there is nothing to do. */
  readonly whatToDo: string | null;
}

/** Something that is as it should be. */
export const fine = (what: string): Finding => ({ level: 'ok', what, whatToDo: null });
/** Something to look at. */
export const warning = (what: string, whatToDo: string): Finding => ({ level: 'warn', what, whatToDo });
/** Something that does not work. */
export const failure = (what: string, whatToDo: string): Finding => ({ level: 'error', what, whatToDo });

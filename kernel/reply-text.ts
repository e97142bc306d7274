/** The text of a run, as it grows. */

/**
 * Joins what the model says in a run: the segments of different model calls are parted by a blank line, which is emitted too.
 * So the emitted deltas always concatenate to `text`.
 */
export class ReplyText {
  #text = '';
  #owesBlankLine = false;
  readonly #emit: (delta: string) => void;

  constructor(emit: (delta: string) => void) {
    this.#emit = emit;
  }

  get text(): string {
    return this.#text;
  }

  /** Adds to the present segment. */
  add(delta: string): void {
    if (delta === '') return;
    const piece = this.#owesBlankLine ? `\n\n${delta}` : delta;
    this.#owesBlankLine = false;
    this.#text += piece;
    this.#emit(piece);
  }

  /** Ends the present segment; the next text starts after a blank line. */
  part(): void {
    this.#owesBlankLine = this.#text !== '';
  }
}

/** The text of a run, as it grows. */

/**
 * Joins what the model says in a run: the segments of different model calls are parted by a blank line, which is emitted too.
 * So the emitted deltas always concatenate to `text`.
 */
export class ReplyText {
  #before = '';
  #segment = '';
  #owesBlankLine = false;
  readonly #emit: (delta: string) => void;

  constructor(emit: (delta: string) => void) {
    this.#emit = emit;
  }

  get text(): string {
    return this.#before + this.#segment;
  }

  /** Adds to the present segment. */
  add(delta: string): void {
    if (delta === '') return;
    const isFirst = this.#segment === '' && this.#owesBlankLine;
    if (isFirst) this.#before += '\n\n';
    this.#segment += delta;
    this.#emit(isFirst ? `\n\n${delta}` : delta);
  }

  /** Says that the present segment is this very string: what it was added up from need not be kept beside it. */
  settle(segment: string): void {
    if (segment.length === this.#segment.length) this.#segment = segment;
  }

  /** Ends the present segment; the next text starts after a blank line. */
  part(): void {
    this.#before = this.text;
    this.#segment = '';
    this.#owesBlankLine = this.#before !== '';
  }
}

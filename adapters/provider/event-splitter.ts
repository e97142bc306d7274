/** Server-sent events, as far as model servers use them. */

/**
 * Cuts a text stream into the `data` of its events, wherever the pieces were cut (WHATWG HTML, "Server-sent events"). Comments and other
 * fields are skipped. Time is linear in the length of the stream.
 */
export class EventSplitter {
  #unfinished: string[] = [];
  #data: string | undefined;

  /** The data of every event that this piece completes. */
  push(text: string): readonly string[] {
    const lastBreak = text.lastIndexOf('\n');
    if (lastBreak < 0) {
      this.#unfinished.push(text);
      return [];
    }
    const lines = this.#unfinished.join('') + text.slice(0, lastBreak);
    this.#unfinished = lastBreak + 1 < text.length ? [text.slice(lastBreak + 1)] : [];
    const complete: string[] = [];
    for (const line of lines.split('\n')) this.#read(line.endsWith('\r') ? line.slice(0, -1) : line, complete);
    return complete;
  }

  /** The data of an event that the end of the stream completes: servers leave out the last blank line. */
  end(): readonly string[] {
    const complete: string[] = [];
    this.#read(this.#unfinished.join('').trimEnd(), complete);
    this.#read('', complete);
    this.#unfinished = [];
    return complete;
  }

  #read(line: string, complete: string[]): void {
    if (line === '') {
      if (this.#data !== undefined) complete.push(this.#data);
      this.#data = undefined;
      return;
    }
    if (!line.startsWith('data:')) return;
    const value = line.startsWith('data: ') ? line.slice(6) : line.slice(5);
    this.#data = this.#data === undefined ? value : `${this.#data}\n${value}`;
  }
}

/** An entry of the timetable. */
export interface Entry {
  readonly id: string;
  /** Epoch milliseconds. */
  readonly at: number;
}

/** A binary heap: the earliest entry is first. */
export class Heap {
  readonly #entries: Entry[];

  constructor(entries: Iterable<Entry> = []) {
    // A sorted list is a heap.
    this.#entries = [...entries].sort((a, b) => a.at - b.at);
  }

  get size(): number {
    return this.#entries.length;
  }

  get first(): Entry | undefined {
    return this.#entries[0];
  }

  push(entry: Entry): void {
    const entries = this.#entries;
    let index = entries.push(entry) - 1;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      const above = entries[parent];
      if (above === undefined || above.at <= entry.at) break;
      entries[index] = above;
      index = parent;
    }
    entries[index] = entry;
  }

  /** Takes the first entry out. */
  pop(): void {
    const entries = this.#entries;
    const entry = entries.pop();
    if (entry === undefined || entries.length === 0) return;
    let index = 0;
    for (;;) {
      const left = 2 * index + 1;
      const child = (entries[left + 1]?.at ?? Number.POSITIVE_INFINITY) < (entries[left]?.at ?? Number.POSITIVE_INFINITY) ? left + 1 : left;
      const below = entries[child];
      if (below === undefined || below.at >= entry.at) break;
      entries[index] = below;
      index = child;
    }
    entries[index] = entry;
  }
}

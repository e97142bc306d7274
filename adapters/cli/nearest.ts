/** The likeliest meaning of a mistyped word. */

/**
 * The candidate that is fewest edits away (insert, delete, replace, swap of neighbours), or undefined when none is close: at most two
 * edits, and fewer than the word has letters.
 */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  const limit = Math.min(2, word.length - 1);
  const ranked = candidates
    .map((candidate) => ({ candidate, distance: editDistance(word, candidate) }))
    .filter(({ distance }) => distance <= limit)
    .sort((a, b) => a.distance - b.distance);
  return ranked[0]?.candidate;
}

function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1];
      const replaced = at(last, column - 1) + (same ? 0 : 1);
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      const swap = swapped ? at(beforeLast, column - 2) + 1 : Infinity;
      current.push(Math.min(replaced, at(last, column) + 1, at(current, column - 1) + 1, swap));
    }
    beforeLast = last;
    last = current;
  }
  return at(last, b.length);
}

const at = (row: readonly number[], column: number): number => row[column] ?? Infinity;

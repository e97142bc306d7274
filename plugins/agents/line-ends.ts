/** A text with "\n" line ends, and the way back to the text it came from. */

export interface EvenText {
  readonly text: string;
  /** Offset in the original of an offset in `text`. */
  originalOffset(offset: number): number;
  /** The line end that the original uses first. */
  readonly lineEnd: string;
}

/** Turns CRLF and CR into "\n". */
export function withEvenLineEnds(original: string): EvenText {
  const dropped: number[] = [];
  for (const { index } of original.matchAll(/\r\n/g)) dropped.push(index - dropped.length);
  return {
    text: original.replace(/\r\n?/g, '\n'),
    originalOffset: (offset) => offset + countBelow(dropped, offset),
    lineEnd: /\r\n|\r|\n/.exec(original)?.[0] ?? '\n',
  };
}

/** How many of the sorted `values` are below `limit`. */
function countBelow(values: readonly number[], limit: number): number {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((values[middle] ?? limit) < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** True when the text holds a character that globs give a meaning. */
export const isGlob = (pattern: string): boolean => /[*?]/.test(pattern);

/** Does the whole text fit the glob? `*` stands for any characters, `?` for one. Takes time in proportion to the product of both lengths at most. */
export function matchesGlob(pattern: string, text: string): boolean {
  let at = 0;
  let place = 0;
  let star = -1;
  let starPlace = 0;
  while (place < text.length) {
    const wanted = pattern[at];
    if (wanted === '*') {
      star = at;
      starPlace = place;
      at += 1;
      continue;
    }
    if (wanted === '?' || wanted === text[place]) {
      at += 1;
      place += 1;
      continue;
    }
    if (star < 0) return false;
    // Only the last star is ever widened: what an earlier one could still take, the last one can take as well.
    starPlace += 1;
    place = starPlace;
    at = star + 1;
  }
  while (pattern[at] === '*') at += 1;
  return at === pattern.length;
}

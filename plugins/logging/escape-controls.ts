/**
 * Characters that move the cursor, end a line, or reorder text on screens: C0 and C1 controls (with them ANSI sequences), line and paragraph
 * separators, bidirectional marks and overrides (https://trojansource.codes), and the byte order mark.
 */
// oxlint-disable-next-line no-control-regex -- control characters are what this is about
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

/** Makes such characters visible as `\u001b`, so that nobody can forge a line or hide a part of one. JSON text stays the same JSON. */
export function escapeControls(text: string): string {
  return text.replace(CONTROLS, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

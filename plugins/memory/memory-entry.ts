/** One entry of a memory: one line that can be taken for nothing else. */

/** Line breaks, tabs and other control characters. */
// oxlint-disable-next-line no-control-regex -- control characters are what it looks for
const BREAKS = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g;
/** Marks that reorder or hide text. */
const REORDERING = /[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
const HEADING_LOOK_ALIKE = /#{1,6}\s*(core memory|archival memory|核心记忆|归档记忆)/gi;
const BULLET = /^\s*[-*]\s+/;

/** The content as one line: control characters gone, blanks collapsed, look-alikes of section headings in brackets. "" when nothing is left. */
export function oneLine(content: string): string {
  return content.replace(BREAKS, ' ').replace(REORDERING, '').replace(HEADING_LOOK_ALIKE, '[$1]').replace(/\s+/g, ' ').trim();
}

/**
 * The line that is stored: "- [2026-07-22 09:30:00] text".
 *
 * @param at  epoch milliseconds; written in the server's zone
 */
export function entryLine(content: string, at: number): string {
  const two = (value: number): string => String(value).padStart(2, '0');
  const time = new Date(at);
  const date = `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
  return `- [${date} ${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}] ${content}`;
}

/** The line below an entry that names the run it came from. Markdown does not show it, and neither prompts nor searches do. */
export const originLine = (traceId: string): string => `  <!-- run ${traceId} -->`;

/** Whether a line is such a one. */
export const isOriginLine = (line: string): boolean => /^\s*<!-- run [\w-]+ -->\s*$/.test(line);

/** A stored line without its bullet. */
export const withoutBullet = (line: string): string => line.replace(BULLET, '').trimEnd();

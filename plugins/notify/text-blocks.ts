/** Stretches of a text that lose their meaning when they are torn apart. */

/** From the first character of its first line to behind the line break of its last one. */
export interface TextBlock {
  readonly start: number;
  readonly end: number;
}

/** The mark that opens or closes a fence, at the start of a line. */
const FENCE = /[ \t]*(`{3,}|~{3,})/y;
/** What may follow the mark on the line that closes a fence. */
const BLANK = /[ \t]*\r?(?:\n|$)/y;
const TABLE_ROW = /[ \t]*\|/y;

/** Code fences (CommonMark, at any indentation) and runs of table rows, in order. A fence that nobody closes ends with the text. Linear time. */
export function textBlocks(text: string): readonly TextBlock[] {
  const blocks: TextBlock[] = [];
  let fence: { readonly start: number; readonly mark: string } | undefined;
  let table: number | undefined;
  for (let start = 0; start < text.length; ) {
    const end = lineEnd(text, start);
    const mark = fenceMark(text, start, end);
    if (fence !== undefined) {
      if (mark !== undefined && closes(mark, fence.mark)) {
        blocks.push({ start: fence.start, end });
        fence = undefined;
      }
    } else {
      const isRow = matches(TABLE_ROW, text, start);
      if (table !== undefined && !isRow) {
        blocks.push({ start: table, end: start });
        table = undefined;
      }
      if (isRow) table ??= start;
      if (mark !== undefined) fence = { start, mark: mark.text };
    }
    start = end;
  }
  const open = fence?.start ?? table;
  if (open !== undefined) blocks.push({ start: open, end: text.length });
  return blocks;
}

interface Mark {
  readonly text: string;
  readonly isAlone: boolean;
}

/** A mark of backticks with another backtick behind it is code within a line. */
function fenceMark(text: string, start: number, end: number): Mark | undefined {
  FENCE.lastIndex = start;
  const mark = FENCE.exec(text)?.[1];
  if (mark === undefined) return undefined;
  const behind = FENCE.lastIndex;
  if (mark.startsWith('`') && text.slice(behind, end).includes('`')) return undefined;
  return { text: mark, isAlone: matches(BLANK, text, behind) };
}

const closes = ({ text, isAlone }: Mark, opening: string): boolean => isAlone && text[0] === opening[0] && text.length >= opening.length;

function matches(pattern: RegExp, text: string, at: number): boolean {
  pattern.lastIndex = at;
  return pattern.test(text);
}

function lineEnd(text: string, start: number): number {
  const at = text.indexOf('\n', start);
  return at < 0 ? text.length : at + 1;
}

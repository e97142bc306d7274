/** Where commands print: results to stdout, everything else to stderr. */
import type { OutputStream } from './cli-host.ts';
import { columnsOf, cutTo, jsonText, lineText } from './text.ts';

const STYLES = { bold: '1', dim: '2', red: '31', green: '32', yellow: '33', cyan: '36' } as const;
/** How a piece of text looks on a terminal. */
export type Style = keyof typeof STYLES;

/** Columns of a table by heading, in order; null shows as "-". */
export type Columns<Row> = Readonly<Record<string, (row: Row) => string | number | null>>;

/** Where a command prints. */
export interface Output {
  /** Prints to stdout as it is; the caller has made foreign text harmless. */
  write(text: string): void;
  /** One line to stdout. */
  line(text?: string): void;
  /** One line to stderr. */
  note(text: string): void;
  /** `Error: …`, one line to stderr. */
  error(message: string): void;
  /** Colours on a terminal that wants them; else the text as it is. */
  paint(style: Style, text: string): string;
  /** Aligned columns under headings. Values are made harmless; on a terminal the last column is cut at its edge. */
  table<Row>(rows: readonly Row[], columns: Columns<Row>): void;
  /** Indented JSON. */
  json(value: unknown): void;
}

/** Prints to the given streams. Colours only on a terminal, never with `NO_COLOR` or `TERM=dumb`. */
export function createOutput(stdout: OutputStream, stderr: OutputStream, env: Readonly<Record<string, string | undefined>>): Output {
  const colours = stdout.isTTY === true && !env['NO_COLOR'] && env['TERM'] !== 'dumb';
  const write = (text: string): void => void stdout.write(text);
  const line = (text = ''): void => write(`${text}\n`);
  const note = (text: string): void => void stderr.write(`${text}\n`);
  const paint = (style: Style, text: string): string => (colours ? `\u001b[${STYLES[style]}m${text}\u001b[0m` : text);
  return {
    write,
    line,
    note,
    paint,
    error: (message) => note(`Error: ${lineText(message)}`),
    json: (value) => line(jsonText(value)),
    table(rows, columns) {
      const edge = stdout.isTTY === true ? stdout.columns : undefined;
      for (const [index, text] of tableLines(rows, columns, edge).entries()) line(index === 0 ? paint('bold', text) : text);
    },
  };
}

/** The lines of a table, headings first. `edge` is the width that the last column is cut to fit. */
export function tableLines<Row>(rows: readonly Row[], columns: Columns<Row>, edge?: number): readonly string[] {
  const headings = Object.keys(columns);
  const cells = rows.map((row) => Object.values(columns).map((value) => cellText(value(row))));
  const widths = headings.map((heading, index) => Math.max(columnsOf(heading), ...cells.map((row) => columnsOf(row[index] ?? ''))));
  return [headings, ...cells].map((row) => {
    const full = row.map((cell, index) => (index === row.length - 1 ? cell : padded(cell, widths[index] ?? 0))).join('  ');
    return edge === undefined ? full.trimEnd() : cutTo(edge, full.trimEnd());
  });
}

function cellText(value: string | number | null): string {
  const text = value === null ? '' : lineText(String(value)).trim();
  return text === '' ? '-' : text;
}

const padded = (cell: string, width: number): string => cell + ' '.repeat(Math.max(0, width - columnsOf(cell)));

/** Text files, page by page. */
import { FileProblem, printable } from '../outside/contract.ts';

/** A page never has more bytes than this. */
const MAX_PAGE_BYTES = 256 * 1024;
const LINE = /[^\n]*\n|[^\n]+$/g;
const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** Which lines are asked for; both count from 1. */
export interface PageRequest {
  readonly offset?: number;
  readonly limit?: number;
}

/** Decodes UTF-8, without its byte order mark. Throws FileProblem for anything that is not text in UTF-8. */
export function textOf(bytes: Uint8Array, path: string): string {
  if (isUtf16(bytes)) throw new FileProblem(`Not UTF-8 text, but UTF-16: ${printable(path)}`);
  if (bytes.includes(0)) throw new FileProblem(`Not a text file, it is binary: ${printable(path)}`);
  try {
    return UTF8.decode(bytes);
  } catch (error) {
    throw new FileProblem(`Not UTF-8 text, it is binary or has another encoding: ${printable(path)}`, { cause: error });
  }
}

/** The lines that were asked for, as many as fit into one page, and a last line that says how to go on when there are more. */
export function pageOf(text: string, { offset = 1, limit = Number.POSITIVE_INFINITY }: PageRequest): string {
  if (text === '') return '(empty file)';
  const lines = text.match(LINE) ?? [];
  if (offset > lines.length) return `(no line ${offset}: the file has ${lines.length} lines)`;
  const fitting = countThatFit(lines, offset - 1, limit);
  if (fitting === 0) return startOfLine(lines, offset);
  const end = offset - 1 + fitting;
  const page = lines.slice(offset - 1, end).join('');
  if (end === lines.length) return page;
  return `${page}[cut: lines ${offset}-${end} of ${lines.length} are shown; go on with offset ${end + 1}]`;
}

function countThatFit(lines: readonly string[], from: number, limit: number): number {
  let bytes = 0;
  let count = 0;
  while (count < limit && from + count < lines.length) {
    bytes += Buffer.byteLength(lines[from + count] ?? '');
    if (bytes > MAX_PAGE_BYTES) return count;
    count += 1;
  }
  return count;
}

/** A line that is longer than a page: only its start can be shown, cut between two characters. */
function startOfLine(lines: readonly string[], offset: number): string {
  const bytes = Buffer.from(lines[offset - 1] ?? '');
  let end = MAX_PAGE_BYTES;
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  const next = offset < lines.length ? `; go on with offset ${offset + 1}` : '';
  return `${bytes.toString('utf8', 0, end)}\n[cut: line ${offset} of ${lines.length} has ${bytes.length} bytes and only its start is shown${next}]`;
}

const isUtf16 = ([first, second]: Uint8Array): boolean => (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);

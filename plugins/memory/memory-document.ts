/** The text of a MEMORY.md: two known sections, and whatever else people have written into it. */
import type { MemoryScope } from './contract.ts';
import { isOriginLine } from './memory-entry.ts';

/** What an agent remembers, as lines without blank ones, in file order. */
export interface MemoryDocument {
  readonly core: readonly string[];
  readonly archival: readonly string[];
}

const TITLES: Readonly<Record<MemoryScope, string>> = { core: '## Core memory', archival: '## Archival memory' };
/** Older files carry Chinese headings; they are kept where they stand. */
const HEADINGS = new Map<string, MemoryScope>([
  ['## core memory', 'core'],
  ['## 核心记忆', 'core'],
  ['## archival memory', 'archival'],
  ['## 归档记忆', 'archival'],
]);
const HEADING = /^#{1,2}\s/;
/** The older form of an entry, outside any section: "2026-06-20 09:12:00 text". */
const PLAIN_ENTRY = /^\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}(:\d{2})?\s+\S/;

interface Line {
  readonly text: string;
  readonly isHeading: boolean;
  /** The section that the line stands in, or begins. */
  readonly scope: MemoryScope | undefined;
}

/** The entries of both sections. Text under other headings is not memory, except for entries of the older form, which are archival. */
export function readDocument(text: string): MemoryDocument {
  const core: string[] = [];
  const archival: string[] = [];
  for (const { text: line, isHeading, scope } of linesOf(text)) {
    if (isHeading || line.trim() === '' || isOriginLine(line)) continue;
    if (scope === 'core') core.push(line);
    if (scope === 'archival' || (scope === undefined && PLAIN_ENTRY.test(line))) archival.push(line);
  }
  return { core, archival };
}

/** The text with one more entry at the end of a section; everything else stays byte for byte. A missing section is added at the end. */
export function withEntry(text: string, scope: MemoryScope, added: string): string {
  if (text.trim() === '') return emptyDocument(scope, added);
  const lines = text.split('\n');
  const end = text.includes('\r\n') ? '\r' : '';
  const entry = added.replaceAll('\n', `${end}\n`);
  const at = endOfSection(linesOf(text), scope);
  if (at === lines.length) return `${text}${end}\n${entry}${end}\n`;
  if (at !== undefined) return lines.toSpliced(at, 0, `${entry}${end}`).join('\n');
  const closed = text.endsWith('\n') ? text : `${text}${end}\n`;
  return `${closed}${end}\n${TITLES[scope]}${end}\n${entry}${end}\n`;
}

const emptyDocument = (scope: MemoryScope, entry: string): string =>
  `${TITLES.core}\n${scope === 'core' ? `${entry}\n` : ''}\n${TITLES.archival}\n${scope === 'archival' ? `${entry}\n` : ''}`;

/** Index after the last line of the section that says something, its heading included; undefined without such a section. */
function endOfSection(lines: readonly Line[], scope: MemoryScope): number | undefined {
  const last = lines.findLastIndex((line) => line.scope === scope && (line.isHeading || line.text.trim() !== ''));
  return last < 0 ? undefined : last + 1;
}

function linesOf(text: string): readonly Line[] {
  let scope: MemoryScope | undefined;
  return text.split('\n').map((raw, index) => {
    const line = (index === 0 ? raw.replace(/^\uFEFF/, '') : raw).replace(/\r$/, '');
    const isHeading = HEADING.test(line);
    if (isHeading) scope = HEADINGS.get(line.trimEnd().toLowerCase());
    return { text: line, isHeading, scope };
  });
}

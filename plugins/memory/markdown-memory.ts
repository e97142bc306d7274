/** Memories in Markdown files: `agents/<name>/MEMORY.md`, and one for everybody that is shown where an agent has none. */
import type { Clock } from '../../kernel/index.ts';
import { invalidInput } from '../../kernel/index.ts';
import type { Workspace } from '../workspace/contract.ts';
import type { Memory } from './contract.ts';
import { readDocument, withEntry } from './memory-document.ts';
import type { MemoryDocument } from './memory-document.ts';
import { entryLine, oneLine, originLine, withoutBullet } from './memory-entry.ts';
import { MemoryFiles } from './memory-file.ts';

/** Core memory stands in every prompt. */
export const MAX_CORE_CHARS = 8_000;
const MAX_ENTRY_CHARS = 2_000;
const MAX_RECALLED = 50;
const EMPTY: MemoryDocument = { core: [], archival: [] };
const AGENT_NAME = /^[A-Za-z0-9_-]{1,64}$/;

/** The service `memory`, and what the prompt needs of it. */
export interface MarkdownMemory extends Memory {
  /** The entries as they are on disk now; empty when there is no file. Throws ORYX_CONFLICT for a file that cannot be trusted. */
  document(agent: string): Promise<MemoryDocument>;
}

/** Memories of the agents of a workspace. */
export function markdownMemory(workspace: Workspace, clock: Clock): MarkdownMemory {
  const files = new MemoryFiles(workspace, clock);
  const shared = workspace.path('memory', 'MEMORY.md');

  async function document(agent: string): Promise<MemoryDocument> {
    return (await files.read(fileOf(agent)))?.document ?? EMPTY;
  }

  function fileOf(agent: string): string {
    if (!AGENT_NAME.test(agent)) throw invalidInput('agent must be the name of an agent');
    return workspace.path('agents', agent, 'MEMORY.md');
  }

  return {
    document,

    async remember(agent, content, scope, traceId) {
      const text = oneLine(content);
      if (text === '') throw invalidInput('content must not be blank');
      if (text.length > MAX_ENTRY_CHARS) {
        throw invalidInput(
          `content has ${text.length} characters and one entry holds at most ${MAX_ENTRY_CHARS}: save a summary, or write a file`,
        );
      }
      const entry = entryLine(text, clock.now());
      await files.update(fileOf(agent), (before) => {
        if (scope === 'core') requireRoom(before, entry);
        return withEntry(before, scope, traceId === undefined ? entry : `${entry}\n${originLine(traceId)}`);
      });
    },

    async recall(agent, keyword) {
      const wanted = keyword.trim().toLowerCase();
      if (wanted === '') throw invalidInput('keyword must not be blank');
      const { archival } = await document(agent);
      const hits = archival.filter((line) => line.toLowerCase().includes(wanted));
      // The newest entries stand last.
      return hits.slice(-MAX_RECALLED).map(withoutBullet);
    },

    readAll: async (agent) => ((await files.read(fileOf(agent))) ?? (await files.read(shared)))?.text ?? '',
  };
}

function requireRoom(text: string, entry: string): void {
  const used = readDocument(text).core.reduce((sum, line) => sum + line.length + 1, 0);
  if (used + entry.length <= MAX_CORE_CHARS) return;
  throw invalidInput(
    `core memory is full (${used} of ${MAX_CORE_CHARS} characters): save this with scope "archival", or have somebody shorten the core section of MEMORY.md`,
  );
}

/** Which paths a request may write inside an agent's directory. */
import { invalidInput } from '../../kernel/index.ts';
import type { NewFile } from './staged-files.ts';

const MAX_FILES = 1000;
const MAX_PATH_BYTES = 1024;
const MAX_SEGMENT_BYTES = 255;

/**
 * Checks a map of path → content and returns its files with normalised paths, AGENT.md last. Throws ORYX_INVALID_INPUT, which names the
 * path, for one that leaves the directory, belongs to the skill bindings, is no plain name, or is there twice.
 */
export function checkedFiles(files: Readonly<Record<string, string>>): readonly NewFile[] {
  const entries = Object.entries(files);
  if (entries.length > MAX_FILES) throw invalidInput(`files: at most ${MAX_FILES} files can be saved at once.`);
  const checked = new Map<string, NewFile>();
  for (const [raw, text] of entries) {
    const path = checkedPath(raw);
    if (checked.has(path)) throw invalidInput(`files: "${path}" is there twice.`);
    checked.set(path, { path, content: Buffer.from(text, 'utf8') });
  }
  for (const path of checked.keys()) {
    const folder = foldersOf(path).find((outer) => checked.has(outer));
    if (folder !== undefined) throw invalidInput(`files: "${folder}" cannot be a file and a folder.`);
  }
  const agent = checked.get('AGENT.md');
  if (agent === undefined) throw invalidInput('files: there must be an "AGENT.md".');
  checked.delete('AGENT.md');
  return [...checked.values(), agent];
}

function checkedPath(raw: string): string {
  const refuse = (reason: string) => invalidInput(`files: "${raw.slice(0, 200)}" ${reason}.`);
  // oxlint-disable-next-line no-control-regex -- names with control characters are never meant
  if (/[\u0000-\u001f\u007f\\]/.test(raw)) throw refuse('has a backslash or a control character in it');
  if (raw.startsWith('/') || /^[A-Za-z]:/.test(raw)) throw refuse('must be relative to the directory of the agent');
  const segments = raw.split('/').filter((segment) => segment !== '.');
  if (segments.length === 0 || segments.some((segment) => segment === '')) throw refuse('is not the path of a file');
  if (segments.includes('..')) throw refuse('must not contain ".."');
  if (Buffer.byteLength(raw) > MAX_PATH_BYTES || segments.some((segment) => Buffer.byteLength(segment) > MAX_SEGMENT_BYTES)) {
    throw refuse('is too long');
  }
  if (segments[0]?.toLowerCase() === 'skills') throw refuse('belongs to the skill bindings');
  if (segments.some((segment) => segment.startsWith('.save-'))) throw refuse('is a name that saving uses itself');
  const path = segments.join('/');
  if (path.toLowerCase() === 'agent.md' && path !== 'AGENT.md') throw refuse('must be spelled "AGENT.md"');
  return path;
}

function foldersOf(path: string): readonly string[] {
  const segments = path.split('/');
  return segments.slice(1).map((_, index) => segments.slice(0, index + 1).join('/'));
}

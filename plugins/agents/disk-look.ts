/** Looks at agents on disk and tells what is new about them. */
import { readdir } from 'node:fs/promises';
import { type Clock, type Logger, messageOf } from '../../kernel/index.ts';
import { agentError } from './agent-error.ts';
import { type AgentFile, glanceAt, readAgentFile } from './agent-file.ts';
import { isAgentName } from './agent-name.ts';
import type { AgentError } from './contract.ts';
import type { Deriver } from './deriver.ts';
import { inParallel } from './in-parallel.ts';
import type { DerivedAgent, Roster } from './roster.ts';

/** Two reads this far apart cannot fall into one tick of the file system's clock (2 s on the coarsest). */
const SURE_AFTER_MS = 3000;
const READS_AT_ONCE = 32;

/** What a look needs. */
export interface DiskLookParts {
  /** Real path of the directory `agents`. */
  readonly directory: string;
  readonly roster: Roster;
  readonly deriver: Deriver;
  readonly clock: Clock;
  readonly log: Logger;
}

/** What a look found, compared with the roster. */
export type Finding =
  | { readonly kind: 'nothing' }
  /** The file says what is live. */
  | { readonly kind: 'same'; readonly name: string }
  | { readonly kind: 'good'; readonly name: string; readonly agent: DerivedAgent }
  /** Invalid, or gone when `error` is null. `mark` tells one state of the file from another. */
  | { readonly kind: 'bad'; readonly name: string; readonly error: AgentError | null; readonly mark: string };

/** What the last look saw. `sure`: no write can have hidden behind the same glance. */
interface Seen {
  readonly glance: string;
  readonly readAt: number;
  readonly sure: boolean;
}

/** Looks, and remembers what it has seen, so that unchanged files are not read again. */
export class DiskLook {
  readonly #parts: DiskLookParts;
  readonly #seen = new Map<string, Seen>();
  readonly #oddNames = new Set<string>();

  constructor(parts: DiskLookParts) {
    this.#parts = parts;
  }

  /** The next look reads this agent's file, whatever it looks like. */
  forget(name: string): void {
    this.#seen.delete(name);
  }

  /** Looks at these agents. Never rejects: what cannot be read now counts as nothing new and is read again next time. */
  at(names: readonly string[]): Promise<readonly Finding[]> {
    return inParallel(names, READS_AT_ONCE, async (name) => {
      try {
        return await this.#look(name);
      } catch (error) {
        this.forget(name);
        this.#parts.log.error('agent file cannot be judged', { agent: name, error: messageOf(error) });
        return { kind: 'nothing' };
      }
    });
  }

  /** Names on disk that look different from last time, and agents that are gone; at first all names. Rejects when the directory cannot be read. */
  async changedNames(): Promise<readonly string[]> {
    const entries = await readdir(this.#parts.directory, { withFileTypes: true });
    const folders = entries.filter((entry) => entry.isDirectory() || entry.isSymbolicLink()).map(({ name }) => name);
    this.#warnOfOddNames(folders);
    const present = new Set(folders.filter(isAgentName));
    const changed = await inParallel([...present].sort(), READS_AT_ONCE, async (name) =>
      (await this.#isUnchanged(name)) ? undefined : name,
    );
    for (const name of this.#seen.keys()) if (!present.has(name)) this.forget(name);
    const gone = this.#parts.roster.names().filter((name) => !present.has(name));
    return [...changed.filter((name) => name !== undefined), ...gone];
  }

  async #isUnchanged(name: string): Promise<boolean> {
    const seen = this.#seen.get(name);
    return seen?.sure === true && seen.glance === (await glanceAt(this.#parts.directory, name));
  }

  async #look(name: string): Promise<Finding> {
    if (await this.#isUnchanged(name)) return { kind: 'nothing' };
    const { directory, clock, log } = this.#parts;
    const file = await readAgentFile(directory, name);
    if (file.kind === 'unknown') {
      log.warn('agent file cannot be read now', { agent: name, code: file.code });
      return { kind: 'nothing' };
    }
    const seen = this.#seen.get(name);
    const now = clock.monotonic();
    const readAt = seen?.glance === file.glance ? seen.readAt : now;
    const sure = (file.kind === 'text' && file.old) || now - readAt >= SURE_AFTER_MS;
    this.#seen.set(name, { glance: file.glance, readAt, sure });
    return this.#findingOf(name, file);
  }

  #findingOf(name: string, file: Exclude<AgentFile, { readonly kind: 'unknown' }>): Finding {
    const { roster, deriver } = this.#parts;
    const entry = roster.entry(name);
    if (file.kind === 'absent') return entry === undefined ? { kind: 'nothing' } : { kind: 'bad', name, error: null, mark: 'absent' };
    if (file.kind === 'unusable') return this.#newsOf(name, agentError(name, file.message), file.message);
    if (file.version === entry?.live?.profile.version) return { kind: 'same', name };
    const derived = deriver.found(file.text, name, file.version, roster.keptVersion(name));
    if (derived.ok) return { kind: 'good', name, agent: { definition: derived.agent, text: file.text } };
    return this.#newsOf(name, derived.error, file.version);
  }

  /** An error that is in the view already is no news. */
  #newsOf(name: string, error: AgentError, mark: string): Finding {
    const shown = this.#parts.roster.entry(name)?.error ?? null;
    return JSON.stringify(shown) === JSON.stringify(error) ? { kind: 'nothing' } : { kind: 'bad', name, error, mark };
  }

  #warnOfOddNames(folders: readonly string[]): void {
    for (const name of folders) {
      if (isAgentName(name) || name.startsWith('.') || this.#oddNames.has(name)) continue;
      this.#oddNames.add(name);
      this.#parts.log.warn('directory is not an agent: names are 1 to 64 letters, digits, "_" or "-"', { directory: `agents/${name}` });
    }
  }
}

/** Who is there: each agent's live version and what is wrong with its file. Changes come one after another, from the serial path. */
import type { Profile, Registration, Statement } from '../../kernel/index.ts';
import type { AgentVersions } from './agent-versions-repository.ts';
import type { AgentError } from './contract.ts';
import type { AgentDefinition } from './derive.ts';

/** A valid definition and the text that it was derived from. */
export interface DerivedAgent {
  readonly definition: AgentDefinition;
  readonly text: string;
}

/** `live` alone: ok. Both: the file is invalid and its last good version goes on (stale). `error` alone: broken. */
export interface RosterEntry {
  readonly live: AgentDefinition | undefined;
  readonly error: AgentError | null;
}

/** The agents of this process. Only the serial path may change it. */
export class Roster {
  readonly #entries = new Map<string, RosterEntry>();
  readonly #registrations = new Map<string, Registration<Profile>>();
  readonly #kept = new Map<string, string>();
  readonly #versions: AgentVersions;
  readonly #register: (profile: Profile) => Registration<Profile>;

  /**
   * @param kept  the versions that the table holds as live, by agent
   */
  constructor(versions: AgentVersions, kept: ReadonlyMap<string, string>, register: (profile: Profile) => Registration<Profile>) {
    this.#versions = versions;
    this.#register = register;
    this.#kept = new Map(kept);
  }

  entry(name: string): RosterEntry | undefined {
    return this.#entries.get(name);
  }

  /** All names, broken agents too, sorted. */
  names(): readonly string[] {
    return [...this.#entries.keys()].sort();
  }

  /** The version that was live last, in this process or an earlier one. */
  keptVersion(name: string): string | undefined {
    return this.#kept.get(name);
  }

  /** Names that the table holds as live and that nobody has shown since. */
  forgotten(): readonly string[] {
    return [...this.#kept.keys()].filter((name) => !this.#entries.has(name));
  }

  /**
   * Makes the definitions live. Their texts, and the statements in `also`, are durable before any of them can be seen, and each takes its
   * predecessor's place in one step. Rejects as `Store.write` does; nothing has changed then.
   */
  async accept(agents: readonly DerivedAgent[], at: number, also?: readonly Statement[]): Promise<void> {
    const texts = agents
      .map(({ definition: { profile }, text }) => ({ name: profile.name, version: profile.version, text }))
      .filter(({ name, version }) => this.#kept.get(name) !== version);
    await this.#versions.keepLive(texts, at, also);
    for (const { definition } of agents) {
      this.#kept.set(definition.profile.name, definition.profile.version);
      this.#show(definition, null);
    }
  }

  /** Notes that the file is invalid. The live version goes on; without one the agent is broken. */
  reject(name: string, error: AgentError): void {
    this.#entries.set(name, { live: this.#entries.get(name)?.live, error });
  }

  /** The file says again what is live. */
  confirm(name: string): void {
    const entry = this.#entries.get(name);
    if (entry?.live !== undefined) this.#entries.set(name, { live: entry.live, error: null });
  }

  /** Puts back the last good version of an earlier process, beside what is wrong with the file now. */
  restore(definition: AgentDefinition, error: AgentError): void {
    this.#show(definition, error);
  }

  /** Takes the agent out of sight. Returns what puts it back. */
  async hide(name: string): Promise<() => void> {
    const entry = this.#entries.get(name);
    this.#entries.delete(name);
    const registration = this.#registrations.get(name);
    this.#registrations.delete(name);
    await registration?.();
    return () => {
      if (entry === undefined) return;
      if (entry.live === undefined) this.#entries.set(name, entry);
      else this.#show(entry.live, entry.error);
    };
  }

  /** Nobody by these names is live any more, after a restart neither. Rejects as `Store.write` does. */
  async retire(names: readonly string[]): Promise<void> {
    const known = names.filter((name) => this.#kept.has(name));
    await this.#versions.retire(known);
    for (const name of known) this.#kept.delete(name);
  }

  #show(live: AgentDefinition, error: AgentError | null): void {
    const { name } = live.profile;
    const registration = this.#registrations.get(name);
    if (registration === undefined) this.#registrations.set(name, this.#register(live.profile));
    else registration.replace(live.profile);
    this.#entries.set(name, { live, error });
  }
}

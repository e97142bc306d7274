/** Derives agents in the surroundings of this server. */
import type { Logger } from '../../kernel/index.ts';
import type { AgentVersions } from './agent-versions-repository.ts';
import { type AgentDefinition, deriveAgent, type Derivation } from './derive.ts';
import type { Environment } from './env.ts';

/** Three ways to judge a text, by where it comes from. */
export interface Deriver {
  /** A file as it was found. The version that was live before stays valid when its provider is gone: its calls fail, and its view says why. */
  found(text: string, name: string, version: string, keptVersion: string | undefined): Derivation;
  /** A text that is being saved: judged by every rule. */
  saved(text: string, name: string, version: string): Derivation;
  /** A version whose text was stored; undefined when it was not, or makes no agent any more. */
  stored(name: string, version: string): Promise<AgentDefinition | undefined>;
}

/** What a deriver works with. */
export interface DeriverParts {
  readonly versions: AgentVersions;
  readonly knowsProvider: (name: string) => boolean;
  readonly environment: Environment;
  readonly log: Logger;
}

/** A deriver that asks `knowsProvider` at each call. */
export function createDeriver({ versions, knowsProvider, environment, log }: DeriverParts): Deriver {
  return {
    found: (text, name, version, keptVersion) =>
      deriveAgent(text, { name, version, environment, ...(version !== keptVersion && { knowsProvider }) }),
    saved: (text, name, version) => deriveAgent(text, { name, version, environment, knowsProvider, saving: true }),
    async stored(name, version) {
      const text = await versions.text(name, version);
      if (text === undefined) return undefined;
      const derived = deriveAgent(text, { name, version, environment });
      if (derived.ok) return derived.agent;
      log.warn('a stored version makes no agent any more', { agent: name, version, error: derived.error.message });
      return undefined;
    },
  };
}

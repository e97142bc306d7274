/** What other plugins see of the agents. */
import { conflict, notFound, type Profile, type Profiles } from '../../kernel/index.ts';
import { describeAgentError } from './agent-error.ts';
import type { AgentEditor } from './agent-editor.ts';
import { agentViewOf, type Surroundings } from './agent-view.ts';
import type { Agents } from './contract.ts';
import type { DeletionListeners } from './deletion-listeners.ts';
import type { DiskFollower } from './disk-follower.ts';
import type { Roster, RosterEntry } from './roster.ts';

/** What the service works with. */
export interface AgentsServiceParts {
  readonly roster: Roster;
  readonly follower: DiskFollower;
  readonly editor: AgentEditor;
  readonly deletions: DeletionListeners;
  readonly surroundings: Surroundings;
}

/** The service `agents`. */
export function createAgents({ roster, follower, editor, deletions, surroundings }: AgentsServiceParts): Agents {
  const entryOf = (name: string): RosterEntry => {
    const entry = roster.entry(name);
    if (entry === undefined) throw notFound(`There is no agent "${name}".`);
    return entry;
  };
  const view: Agents['view'] = (name) => agentViewOf(name, entryOf(name), surroundings);
  return {
    view,
    list: () => roster.names().map(view),
    requireRunnable(name) {
      const { live, error } = entryOf(name);
      if (live === undefined && error !== null) throw conflict(`Agent "${name}" is broken: ${describeAgentError(error)}`);
    },
    settled: () => follower.settle(),
    async save(name, markdown) {
      await editor.saveOrCreate(name, markdown);
      return view(name);
    },
    onDeleted: (fn) => deletions.add(fn),
  };
}

/**
 * The service `profiles`.
 *
 * @param stored  derives a version anew from its stored text
 */
export function createProfiles(roster: Roster, stored: (name: string, version: string) => Promise<Profile | undefined>): Profiles {
  const current = (name: string): Profile | undefined => roster.entry(name)?.live?.profile;
  return {
    current,
    async at(name, version) {
      const live = current(name);
      return live?.version === version ? live : stored(name, version);
    },
  };
}

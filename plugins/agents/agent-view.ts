/** Agents and profiles as the API shows them. */
import type { Provider, ReadonlyRegistry, Tool } from '../../kernel/index.ts';
import type { AgentCheck, AgentView } from './contract.ts';
import type { AgentDefinition, Reference } from './derive.ts';
import type { RosterEntry } from './roster.ts';

/** A live agent in short. */
export interface ProfileView {
  readonly name: string;
  readonly description: string | null;
  readonly provider: string;
  readonly model: string;
  readonly tools: readonly string[];
}

/** What agents mention and others offer; asked at the moment of looking. */
export interface Surroundings {
  readonly providers: ReadonlyRegistry<Provider>;
  readonly tools: ReadonlyRegistry<Tool>;
  readonly checks: ReadonlyRegistry<AgentCheck>;
}

/** The agent with its warnings of now. A broken one has only name, status and error. */
export function agentViewOf(name: string, { live, error }: RosterEntry, surroundings: Surroundings): AgentView {
  const status = error === null ? 'ok' : live === undefined ? 'broken' : 'stale';
  return {
    name,
    description: live?.profile.description || null,
    provider: live?.profile.provider ?? null,
    model: live?.profile.model ?? null,
    tools: live?.profile.tools ?? [],
    skills: [],
    schedules: live?.schedules ?? [],
    status,
    error,
    warnings: live === undefined ? [] : [...live.warnings, ...missingOf(live, surroundings)],
    version: live?.profile.version ?? null,
  };
}

/** The short form of a live agent. */
export function profileViewOf({ profile }: AgentDefinition): ProfileView {
  const { name, description, provider, model, tools } = profile;
  return { name, description: description || null, provider, model, tools };
}

/** Names that nobody has registered: each may still come, so none of them is an error. */
function missingOf(agent: AgentDefinition, { providers, tools, checks }: Surroundings): readonly string[] {
  const unknownProvider = ({ text }: Reference): boolean => providers.get(text) === undefined;
  const unknownTool = ({ text }: Reference): boolean => {
    const source = text.endsWith(':*') ? text.slice(0, -2) : undefined;
    return source === undefined ? tools.get(text) === undefined : !tools.list().some((tool) => tool.source === source);
  };
  const lines = (found: readonly Reference[], sentence: (name: string) => string): readonly string[] =>
    found.map(({ text, line }) => `line ${line}: ${sentence(text)}`);
  return [
    ...lines(
      [agent.provider].filter(unknownProvider),
      (name) => `there is no provider "${name}" now: messages to this agent fail until there is`,
    ),
    ...lines(agent.fallback.filter(unknownProvider), (name) => `fallback provider "${name}" is unknown: an attempt with it fails at once`),
    ...lines(agent.tools.filter(unknownTool), (name) => `tool "${name}" is unknown and is not offered to the model`),
    ...checks
      .list()
      .flatMap((check) => check.warnings(agent.profile))
      .map(({ path, message }) => `line ${agent.positionOf(path).line}: ${message}`),
  ];
}

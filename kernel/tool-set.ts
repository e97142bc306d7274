/** Which tools an agent has. */
import type { Profile, ReadonlyRegistry, Tool, ToolSchema } from './contract/index.ts';

/** True when the agent's front matter covers the tool, by name or as "<source>:*". */
export function isDeclared(agent: Profile, tool: Tool): boolean {
  if (tool.source === undefined) return agent.tools.includes(tool.name);
  if (agent.toolSources !== undefined && !agent.toolSources.includes(tool.source)) return false;
  return agent.tools.includes(tool.name) || agent.tools.includes(`${tool.source}:*`);
}

/** The agent's tools that exist now, in the order of its front matter; tools of one source in order of registration. */
export function declaredTools(agent: Profile, tools: ReadonlyRegistry<Tool>): readonly Tool[] {
  const found = new Map<string, Tool>();
  for (const name of agent.tools) {
    const candidates = name.endsWith(':*') ? tools.list().filter((tool) => `${tool.source}:*` === name) : [tools.get(name)];
    for (const tool of candidates) if (tool && isDeclared(agent, tool)) found.set(tool.name, tool);
  }
  return [...found.values()];
}

const MAX_CACHED_OFFERS = 256;

/**
 * Keeps the schema list of each offered tool set, so that equal sets are the same array and adapters need not serialise it again.
 * Holds the most recently used sets only.
 */
export class ToolOffers {
  readonly #lists = new Map<string, readonly ToolSchema[]>();

  /** @param registryVersion  version of the tool registry: a tool that was replaced gives a new list */
  schemasOf(tools: readonly Tool[], registryVersion: number): readonly ToolSchema[] {
    const texts = tools.map((tool) => (typeof tool.description === 'string' ? '' : tool.description()));
    const key = `${registryVersion}\0${tools.map((tool) => tool.name).join('\0')}\0${texts.join('\0')}`;
    const known = this.#lists.get(key);
    const list = known ?? tools.map((tool, index) => schemaOf(tool, texts[index] ?? ''));
    this.#lists.delete(key);
    this.#lists.set(key, list);
    const oldest = this.#lists.keys().next();
    if (this.#lists.size > MAX_CACHED_OFFERS && !oldest.done) this.#lists.delete(oldest.value);
    return list;
  }
}

function schemaOf(tool: Tool, computed: string): ToolSchema {
  const description = typeof tool.description === 'string' ? tool.description : computed;
  return { name: tool.name, description, parameters: tool.inputSchema };
}

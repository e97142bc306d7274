/** Names of agents and where their files are. */

const NAME = /^[A-Za-z0-9_-]{1,64}$/;

/** May an agent, and so its directory, have this name? */
export const isAgentName = (name: string): boolean => NAME.test(name);

/** An agent's definition relative to the workspace, as messages name it. */
export const agentFileOf = (name: string): string => `agents/${name}/AGENT.md`;

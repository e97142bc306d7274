/** Names of agents and where their files are. */

const NAME = /^[A-Za-z0-9_-]{1,64}$/;

/** Devices on Windows, where no directory can have the name, and names that objects of the language have themselves. */
const RESERVED = /^(con|prn|aux|nul|com[0-9]|lpt[0-9]|__proto__|prototype|constructor)$/i;

/** May an agent, and so its directory, have this name? */
export const isAgentName = (name: string): boolean => NAME.test(name) && !RESERVED.test(name);

/** An agent's definition relative to the workspace, as messages name it. */
export const agentFileOf = (name: string): string => `agents/${name}/AGENT.md`;

import type { ReadonlyRegistry, Channel } from '../../kernel/index.ts';
import type { AgentCheck, AgentWarning } from '../agents/contract.ts';
import type { NotifyChannels } from '../notify/contract.ts';

/** Warns of registered channels that an agent wants to be reached through and that do not exist, or are of another kind. */
export const boundChannelCheck = (adapters: ReadonlyRegistry<Channel>, channels: Pick<NotifyChannels, 'list'>): AgentCheck => ({
  name: 'channels',
  warnings({ frontmatter }) {
    const entries: unknown = frontmatter['channels'];
    if (!Array.isArray(entries)) return [];
    return entries.flatMap((entry: unknown, index): readonly AgentWarning[] => {
      const { name, channel } = entry as { readonly name?: unknown; readonly channel?: unknown };
      if (typeof name !== 'string' || typeof channel !== 'string' || adapters.get(name) === undefined) return [];
      const type = channels.list().find((each) => each.name === channel)?.type;
      if (type === name) return [];
      const problem = type === undefined ? 'is unknown' : `is of the type "${type}", not "${name}"`;
      return [
        { path: ['channels', index, 'channel'], message: `channel "${channel}" ${problem}: messages from there do not reach this agent` },
      ];
    });
  },
});

import type { AgentCheck, AgentWarning } from '../agents/contract.ts';
import type { NotifyChannels } from './contract.ts';

/** Warns of schedules that want a channel told of their failures which does not exist. */
export const failureChannelCheck = (channels: Pick<NotifyChannels, 'find'>): AgentCheck => ({
  name: 'on_failure',
  warnings({ frontmatter }) {
    const entries: unknown = frontmatter['schedules'];
    if (!Array.isArray(entries)) return [];
    return entries.flatMap((entry: unknown, index): readonly AgentWarning[] => {
      const channel = (entry as { readonly on_failure?: unknown } | null)?.on_failure;
      if (typeof channel !== 'string' || channels.find(channel) !== undefined) return [];
      return [{ path: ['schedules', index, 'on_failure'], message: `channel "${channel}" is unknown and is not told of failures` }];
    });
  },
});

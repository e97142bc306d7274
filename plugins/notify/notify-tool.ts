/** `notify`: a message to people. */
import type { Tool, ToolResult } from '../../kernel/index.ts';
import { defineTool, fail, isOryxError, ok } from '../../kernel/index.ts';
import type { NotifyChannels, Notifications, OutboxMessage } from './contract.ts';

const MAX_WAIT_MS = 30_000;
/** Of channels, and of characters of what is said about one. */
const MAX_LISTED = { channels: 50, description: 100 };

/** `notify`: a message to people through a channel that an administrator registered. */
export const notifyTool = (notifications: Notifications, channels: NotifyChannels): Tool =>
  defineTool({
    name: 'notify',
    description: () => `${DESCRIPTION} ${channelsText(channels)}`,
    idempotent: true,
    input: {
      type: 'object',
      properties: {
        content: { type: 'string', minLength: 1, description: 'The message, complete: its readers see nothing else of this conversation.' },
        channel: { type: 'string', description: 'Name of the channel. Absent: the default channel.' },
      },
      required: ['content'],
      additionalProperties: false,
    },
    async execute({ content, channel = '' }, { key, turn, signal }) {
      try {
        const message = { channel: channel.trim(), content, key, traceId: turn.id, agent: turn.agent.name };
        const { id } = await notifications.submit(message);
        return resultOf(await notifications.settled(id, MAX_WAIT_MS, signal));
      } catch (error) {
        const isMistake = isOryxError(error) && (error.code === 'ORYX_NOT_FOUND' || error.code === 'ORYX_INVALID_INPUT');
        if (!isMistake) throw error;
        return fail(`Nothing was sent: ${error.message}`);
      }
    },
  });

const DESCRIPTION =
  'Send a message to people, e.g. to a group chat. Only to registered channels, by name; long texts are sent in several parts. Returns ' +
  '"Sent to <channel>", or "queued as #<id>" when it will be delivered later: then do not send it again.';

function channelsText(channels: NotifyChannels): string {
  const all = channels.list();
  if (all.length === 0) return 'No channel is registered at present.';
  const shown = all.slice(0, MAX_LISTED.channels).map(({ name, description, isDefault }) => {
    const about = [isDefault ? 'default' : '', (description ?? '').slice(0, MAX_LISTED.description)].filter((text) => text !== '');
    return about.length === 0 ? name : `${name} (${about.join('; ')})`;
  });
  const more = all.length - shown.length;
  return `Channels: ${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}.`;
}

function resultOf({ id, channel, state, parts, partsSent, error, errorCode }: OutboxMessage): ToolResult {
  const reason = `${error ?? 'no reason is known'}${errorCode === null ? '' : ` (code ${errorCode})`}`;
  const progress = parts > 1 ? `; ${partsSent} of ${parts} parts were delivered` : '';
  if (state === 'delivered') return ok(`Sent to ${channel}`);
  if (state === 'failed') return fail(`Not sent to ${channel}: ${reason}${progress}`);
  if (state === 'unknown') {
    const warning = 'the message may have arrived. Do not simply send it again: tell the user, or ask whether it is there';
    return fail(`It is unknown whether ${channel} got the message: ${reason}${progress}; ${warning}`);
  }
  const why = error === null ? '' : ` So far: ${reason}.`;
  return ok(
    `Not delivered yet, queued as #${id}: the message to ${channel} is accepted and will be delivered; do not send it again.${why}`,
  );
}

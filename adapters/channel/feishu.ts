/** People talk to agents in Feishu and Lark, whose hosts differ: events of an app's bot come in, replies go out over the API. */
import type { Channel, InboundEvent, InboundMessage, NotifyTarget } from '../../kernel/index.ts';
import { FeishuApi, replyBytes } from './feishu-api.ts';
import { feishuEvent, type FeishuMessage } from './feishu-event.ts';
import { feishuProof } from './feishu-proof.ts';
import { feishuSettings, type FeishuSettings } from './feishu-settings.ts';

/** Texts may be larger (150 KB), formatted messages not; people do not read more in one piece either. */
const MAX_BODY_BYTES = 30_000;
/** Feishu knows the `uuid` of a message for an hour; the last minutes are left for clocks that differ. */
const UUID_LIFE_MS = 55 * 60 * 1000;

/** Messages to a bot, alone or in groups in which it is mentioned. */
export const feishuChannel: Channel = {
  name: 'feishu',
  maxSize: MAX_BODY_BYTES,
  sizeOf: replyBytes,
  repeatableForMs: UUID_LIFE_MS,
  problem(target) {
    const settings = feishuSettings(target);
    return typeof settings === 'string' ? settings : undefined;
  },
  connect(target, http) {
    const settings = requireSettings(target);
    const api = new FeishuApi(settings, http);
    return {
      async receive(request, signal) {
        const proof = feishuProof(request, settings);
        if (!proof.ok) return { kind: 'refused', reason: proof.reason };
        const event = feishuEvent(proof.payload, request.at);
        if (event.kind === 'challenge') return { kind: 'handshake', answer: { challenge: event.challenge } };
        if (event.kind === 'other') return { kind: 'ignored', reason: event.reason };
        return await addressed(event.message, api, request.at, signal);
      },
      reply: (reply, signal) => api.reply(reply, signal),
    };
  },
};

/** In a group a bot hears everything if it may; it is meant only when it is mentioned by itself, not along with all. */
async function addressed(message: FeishuMessage, api: FeishuApi, at: number, signal: AbortSignal): Promise<InboundEvent> {
  const { isGroup, mentions, mentionsBot } = message;
  if (!isGroup || mentionsBot === true) return said(message, undefined);
  if (mentions.every(({ id }) => id === undefined)) return { kind: 'ignored', reason: 'the bot is not mentioned' };
  const bot = await api.botId(at, signal);
  if (!bot.ok) return { kind: 'later', reason: `it cannot be told whether the bot is mentioned: ${bot.message}` };
  if (!mentions.some(({ id }) => id === bot.id)) return { kind: 'ignored', reason: 'the bot is not mentioned' };
  return said(message, bot.id);
}

function said({ textFor, eventId, messageId, chatId, senderId, sentAt }: FeishuMessage, botId: string | undefined): InboundEvent {
  const text = textFor(botId);
  const message: InboundMessage = { eventId, messageId, chatId, senderId, sentAt, ...(text !== undefined && { text }) };
  return { kind: 'message', message };
}

function requireSettings(target: NotifyTarget): FeishuSettings {
  const settings = feishuSettings(target);
  if (typeof settings === 'string') throw new Error(`The channel "${target.channel}" ${settings}.`);
  return settings;
}

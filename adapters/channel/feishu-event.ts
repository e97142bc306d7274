/** What an event of Feishu is about, in either of its two formats. */
import { epochMs } from './feishu-time.ts';
import { plainText, type FeishuMention, v1Text } from './feishu-text.ts';
import { type JsonObject, objectAt, objectsAt, textAt } from '../shared/json.ts';

/** A message as it was sent. */
export interface FeishuMessage {
  readonly eventId: string;
  readonly messageId: string;
  readonly chatId: string;
  readonly senderId: string;
  /** Epoch milliseconds. */
  readonly sentAt: number;
  readonly isGroup: boolean;
  /** Who is mentioned; the bot may be among them. */
  readonly mentions: readonly FeishuMention[];
  /** The old format says itself whether the bot is mentioned. */
  readonly mentionsBot?: boolean;
  /** What was said without the mention of the bot; undefined when it is not text. */
  readonly textFor: (botId: string | undefined) => string | undefined;
}

/** A verified request, understood. */
export type FeishuEvent =
  | { readonly kind: 'challenge'; readonly challenge: string }
  | { readonly kind: 'message'; readonly message: FeishuMessage }
  | { readonly kind: 'other'; readonly reason: string };

const ID = /^[A-Za-z0-9_-]{1,128}$/;

/** Understands the verified content of a request. */
export function feishuEvent(payload: JsonObject, at: number): FeishuEvent {
  if (payload['type'] === 'url_verification') {
    const challenge = textAt(payload, 'challenge');
    return challenge === undefined ? other('a verification of the address has no challenge') : { kind: 'challenge', challenge };
  }
  return 'schema' in payload ? newEvent(payload, at) : oldEvent(payload, at);
}

function newEvent(payload: JsonObject, at: number): FeishuEvent {
  const header = objectAt(payload, 'header');
  const event = objectAt(payload, 'event');
  const type = textAt(header, 'event_type') ?? 'without a type';
  if (type !== 'im.message.receive_v1') return other(`events ${printable(type)} are of no use here`);
  const sender = objectAt(event, 'sender');
  if (sender['sender_type'] !== 'user') return other('the message is not from a person');

  const message = objectAt(event, 'message');
  const mentions = objectsAt(message, 'mentions').map(mentionOf);
  return messageEvent({
    eventId: textAt(header, 'event_id') ?? '',
    messageId: textAt(message, 'message_id') ?? '',
    chatId: textAt(message, 'chat_id') ?? '',
    senderId: textAt(objectAt(sender, 'sender_id'), 'open_id') ?? '',
    sentAt: epochMs(textAt(message, 'create_time') ?? textAt(header, 'create_time')) ?? at,
    isGroup: message['chat_type'] !== 'p2p',
    mentions,
    textFor: (botId) => plainText(textAt(message, 'message_type'), textAt(message, 'content') ?? '', mentions, botId),
  });
}

function oldEvent(payload: JsonObject, at: number): FeishuEvent {
  const event = objectAt(payload, 'event');
  const type = textAt(event, 'type') ?? textAt(payload, 'type') ?? 'without a type';
  if (type !== 'message') return other(`events ${printable(type)} are of no use here`);

  const text = event['msg_type'] === 'text' ? v1Text(textAt(event, 'text_without_at_bot') ?? textAt(event, 'text') ?? '') : undefined;
  return messageEvent({
    eventId: textAt(payload, 'uuid') ?? '',
    messageId: textAt(event, 'open_message_id') ?? '',
    chatId: textAt(event, 'open_chat_id') ?? '',
    senderId: textAt(event, 'open_id') ?? '',
    sentAt: epochMs(textAt(payload, 'ts')) ?? at,
    isGroup: event['chat_type'] !== 'private',
    mentions: [],
    mentionsBot: event['is_mention'] === true,
    textFor: () => text,
  });
}

function messageEvent(message: FeishuMessage): FeishuEvent {
  const { eventId, messageId, chatId, senderId } = message;
  const isSound = [eventId, messageId, chatId, senderId].every((id) => ID.test(id));
  return isSound ? { kind: 'message', message } : other('the message has no ids of event, message, chat and sender');
}

const mentionOf = (mention: JsonObject): FeishuMention => ({
  key: textAt(mention, 'key') ?? '',
  id: textAt(objectAt(mention, 'id'), 'open_id'),
  name: textAt(mention, 'name') ?? '',
});

const printable = (text: string): string => `"${text.replaceAll(/[^\w.]/g, '?').slice(0, 64)}"`;
const other = (reason: string): FeishuEvent => ({ kind: 'other', reason });

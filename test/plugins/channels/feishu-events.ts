/** Events in the shapes in which Feishu sends them; all ids are made up. */
import { createCipheriv, createHash, randomBytes } from 'node:crypto';

/** The app of the fixtures. */
export const APP = {
  appId: 'cli_fixture0000000001',
  appSecret: 'fixture-app-secret-0001',
  token: 'fixture-verification-token-0001',
  key: 'fixture-encrypt-key-0001',
} as const;

let count = 0;
const next = (prefix: string): string => `${prefix}${String((count += 1)).padStart(30, '0')}`;

/** What varies between messages. */
export interface MessageShape {
  readonly text?: string;
  readonly eventId?: string;
  readonly messageId?: string;
  readonly chatId?: string;
  readonly senderId?: string;
  readonly senderType?: string;
  readonly group?: boolean;
  /** Open ids by key, e.g. `{ '@_user_1': BOT_ID }`. */
  readonly mentions?: Readonly<Record<string, string>>;
  readonly type?: string;
  readonly content?: unknown;
  readonly token?: string;
  readonly appId?: string;
  /** Epoch milliseconds. */
  readonly sentAt?: number;
}

/** An event `im.message.receive_v1`, schema 2.0. */
export function messageEvent(shape: MessageShape = {}) {
  const sentAt = String(shape.sentAt ?? Date.now());
  return {
    schema: '2.0',
    header: {
      event_id: shape.eventId ?? next('5e'),
      event_type: 'im.message.receive_v1',
      create_time: sentAt,
      token: shape.token ?? APP.token,
      app_id: shape.appId ?? APP.appId,
      tenant_key: '0000000000000000',
    },
    event: {
      sender: {
        sender_id: { union_id: 'on_fixture', user_id: null, open_id: shape.senderId ?? 'ou_person000000000000000000000000001' },
        sender_type: shape.senderType ?? 'user',
        tenant_key: '0000000000000000',
      },
      message: {
        message_id: shape.messageId ?? next('om_'),
        create_time: sentAt,
        chat_id: shape.chatId ?? 'oc_chat0000000000000000000000000001',
        chat_type: shape.group === true ? 'group' : 'p2p',
        message_type: shape.type ?? 'text',
        content: JSON.stringify(shape.content ?? { text: shape.text ?? 'hello' }),
        ...(shape.mentions && {
          mentions: Object.entries(shape.mentions).map(([key, id]) => ({
            key,
            id: { open_id: id, union_id: 'on_fixture', user_id: null },
            name: `Name of ${key.slice(2)}`,
            tenant_key: '0000000000000000',
          })),
        }),
      },
    },
  };
}

/** A message in the older format, without a schema. */
export const oldMessageEvent = (event: Readonly<Record<string, unknown>> = {}) => ({
  uuid: next('a1'),
  token: APP.token,
  ts: `${Math.floor(Date.now() / 1000)}.7171419`,
  type: 'event_callback',
  event: {
    type: 'message',
    app_id: APP.appId,
    tenant_key: '0000000000000000',
    open_chat_id: 'oc_old000000000000000000000000000001',
    open_id: 'ou_person000000000000000000000000001',
    open_message_id: next('om_'),
    chat_type: 'private',
    msg_type: 'text',
    is_mention: false,
    text: 'hello of old',
    text_without_at_bot: 'hello of old',
    ...event,
  },
});

/** The question whether an address is the right one. */
export const challengeEvent = (token: string = APP.token) => ({ challenge: 'ajls384kdjx98XX', token, type: 'url_verification' });

/** As Feishu encrypts: AES-256-CBC, key SHA-256 of the encrypt key, the vector in front. */
export function encrypted(event: unknown, key: string = APP.key): { readonly encrypt: string } {
  const iv = randomBytes(16);
  const cipher = createCipheriv('aes-256-cbc', createHash('sha256').update(key).digest(), iv);
  return { encrypt: Buffer.concat([iv, cipher.update(JSON.stringify(event)), cipher.final()]).toString('base64') };
}

/** The headers of a signed request. */
export function signature(body: string, key: string = APP.key, at: number = Date.now()): Record<string, string> {
  const timestamp = String(Math.floor(at / 1000));
  const nonce = randomBytes(8).toString('hex');
  return {
    'X-Lark-Request-Timestamp': timestamp,
    'X-Lark-Request-Nonce': nonce,
    'X-Lark-Signature': createHash('sha256').update(`${timestamp}${nonce}${key}${body}`).digest('hex'),
  };
}

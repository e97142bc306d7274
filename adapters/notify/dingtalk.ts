/** Speaks to custom robots of DingTalk. */
import { createHmac } from 'node:crypto';
import type { NotifyAdapter } from '../../kernel/index.ts';
import { configProblem, secretOf } from './configuration.ts';
import { type JsonObject, jsonBytes } from '../shared/json.ts';
import { type Robot, saidUnder, sendToRobot } from './robot.ts';

/** A larger body is refused with 460101. */
const MAX_BODY_BYTES = 20_000;
const MINUTE_MS = 60_000;
/** Who sends more than 20 messages in a minute is shut out for ten (open.dingtalk.com, custom robots). */
const SHUT_OUT_MS = 10 * MINUTE_MS;

const RATE_CODES = new Set([130101, 410100, 660026]);
const BUSY = -1;

const messageOf = (content: string): JsonObject => ({ msgtype: 'text', text: { content } });
const ENVELOPE_BYTES = jsonBytes(messageOf('')) - jsonBytes('');

const robot: Robot = {
  said: (body) => saidUnder('errcode', 'errmsg', body),
  isTemporary: ({ code }) => RATE_CODES.has(code) || code === BUSY,
  waitMs: ({ code }) => (RATE_CODES.has(code) ? SHUT_OUT_MS : undefined),
};

/** The URL with time and signature; a fragment would swallow them. */
function signed(url: string, secret: string, at: number): string {
  const sign = createHmac('sha256', secret).update(`${at}\n${secret}`).digest('base64');
  const [address = ''] = url.split('#', 1);
  return `${address}${address.includes('?') ? '&' : '?'}timestamp=${at}&sign=${encodeURIComponent(sign)}`;
}

/** Text messages to a group; signed when the channel has a secret. */
export const dingtalkAdapter: NotifyAdapter = {
  name: 'dingtalk',
  maxSize: MAX_BODY_BYTES,
  sizeOf: (content) => ENVELOPE_BYTES + jsonBytes(content),
  rates: [{ count: 20, perMs: MINUTE_MS }],
  configProblem,
  send({ content, at }, target, http, signal) {
    const secret = secretOf(target.config);
    const url = secret === undefined ? target.url : signed(target.url, secret, at);
    return sendToRobot(robot, { label: 'DingTalk', target, url, body: JSON.stringify(messageOf(content)), at }, http, signal);
  },
};

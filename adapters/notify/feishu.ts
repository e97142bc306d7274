/** Speaks to custom bots of Feishu and Lark, whose hosts differ. */
import { createHmac } from 'node:crypto';
import type { NotifyAdapter } from '../../kernel/index.ts';
import { configProblem, secretOf } from './configuration.ts';
import { type JsonObject, jsonBytes } from '../shared/json.ts';
import { type Robot, type Said, saidUnder, sendToRobot } from './robot.ts';

/** "The request body must not exceed 20 KB" (open.feishu.cn, custom bot usage guide). */
const MAX_BODY_BYTES = 20_000;

const messageOf = (text: string): JsonObject => ({ msg_type: 'text', content: { text } });
const signatureOf = (secret: string, timestamp: string): JsonObject => ({
  timestamp,
  // The vendor's own way: what is signed is the key, the text is empty.
  sign: createHmac('sha256', `${timestamp}\n${secret}`).digest('base64'),
});

/** As large as it gets: signatures are of one length. */
const ENVELOPE_BYTES = jsonBytes({ ...signatureOf('', '0000000000'), ...messageOf('') }) - jsonBytes('');

/** 99991400 and 11232: too many messages, and too many of everybody at full hours; 2200: an error inside. */
const TEMPORARY = new Set([11232, 99991400, 2200]);

const robot: Robot = {
  // Answers of before v2 have capital names, those of today sometimes both.
  said(body) {
    const old = saidUnder('StatusCode', 'StatusMessage', body);
    const said = saidUnder('code', 'msg', body) ?? old;
    return said?.code === 0 && old !== undefined ? old : said;
  },
  isTemporary: (said) => TEMPORARY.has(said.code) || isTooMany(said),
  waitMs(_, headers) {
    const seconds = Number(headers['x-ogw-ratelimit-reset'] ?? Number.NaN);
    return Number.isFinite(seconds) && seconds >= 0 ? seconds * 1000 : undefined;
  },
};

/** 9499 is "too many request" and, for a body that cannot be read, "Bad Request". */
const isTooMany = ({ code, text }: Said): boolean => code === 9499 && !/bad request/i.test(text);

/** Text messages to a group; signed when the channel has a secret. */
export const feishuAdapter: NotifyAdapter = {
  name: 'feishu',
  maxSize: MAX_BODY_BYTES,
  sizeOf: (content) => ENVELOPE_BYTES + jsonBytes(content),
  rates: [
    { count: 100, perMs: 60_000 },
    { count: 5, perMs: 1_000 },
  ],
  configProblem,
  send({ content, at }, target, http, signal) {
    const secret = secretOf(target.config);
    const signature = secret === undefined ? {} : signatureOf(secret, String(Math.floor(at / 1000)));
    const body = JSON.stringify({ ...signature, ...messageOf(content) });
    return sendToRobot(robot, { label: 'Feishu', target, body, at }, http, signal);
  },
};

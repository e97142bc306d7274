/** Speaks to group robots of WeCom. */
import type { NotifyAdapter } from '../../kernel/index.ts';
import { configProblem } from './configuration.ts';
import { type Robot, saidUnder, sendToRobot } from './robot.ts';

/** "At most 2048 bytes, in UTF-8" (developer.work.weixin.qq.com, group robots): of the text, not of the body. */
const MAX_TEXT_BYTES = 2048;
const MINUTE_MS = 60_000;

const RATE_CODE = 45009;
/** -1: the system is busy; 45033: too many calls at once. */
const TEMPORARY = new Set([RATE_CODE, 45033, -1]);

const robot: Robot = {
  said: (body) => saidUnder('errcode', 'errmsg', body),
  isTemporary: ({ code }) => TEMPORARY.has(code),
  waitMs: ({ code }) => (code === RATE_CODE ? MINUTE_MS : undefined),
};

/** Text messages to a group. The key is in the URL; there is no signature. */
export const wecomAdapter: NotifyAdapter = {
  name: 'wecom',
  maxSize: MAX_TEXT_BYTES,
  rates: [{ count: 20, perMs: MINUTE_MS }],
  configProblem,
  send({ content, at }, target, http, signal) {
    const body = JSON.stringify({ msgtype: 'text', text: { content } });
    return sendToRobot(robot, { label: 'WeCom', target, body, at }, http, signal);
  },
};

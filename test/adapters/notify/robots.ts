/** Group robots as the vendors run them: each judges size, rate, keyword and signature, and answers with what the real one answers. */
import { createHmac } from 'node:crypto';
import type { ReceivedRequest, ReceiverReply } from '../../harness/receiver.ts';

/** How a robot is set up, and the clock it looks at. */
export interface RobotOptions {
  readonly now: () => number;
  readonly secret?: string;
  readonly keyword?: string;
  /** At most so many messages in any time of that length. */
  readonly rates?: readonly { readonly count: number; readonly perMs: number }[];
}

/** Takes a message or says why not. `content` is there when it was taken. */
export type Robot = (request: ReceivedRequest) => { readonly content?: string; readonly reply: ReceiverReply };

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
const TOO_FAST = 'send too fast, exceed 20 times per minute';

const reply = (body: object, status = 200): { readonly reply: ReceiverReply } => ({
  reply: { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) },
});

const isRecent = (now: number, at: number): boolean => Math.abs(now - at) < HOUR_MS;

/** Whether one more message may be taken now; takes note of it if so. */
function gate({ now, rates = [] }: RobotOptions): () => boolean {
  const times: number[] = [];
  return () => {
    const isFull = rates.some(({ count, perMs }) => times.filter((time) => time > now() - perMs).length >= count);
    if (!isFull) times.push(now());
    return !isFull;
  };
}

/** The fields that any of the vendors has. */
interface Body {
  readonly timestamp?: unknown;
  readonly sign?: unknown;
  readonly msg_type?: unknown;
  readonly msgtype?: unknown;
  readonly content?: { readonly text?: unknown };
  readonly text?: { readonly content?: unknown };
}

/** The body, when it says that it is JSON in UTF-8 and is. */
function bodyOf(request: ReceivedRequest): Body | undefined {
  const { 'content-type': type = '' } = request.headers;
  if (request.method !== 'POST' || !/^application\/json\b.*utf-8/i.test(type)) return undefined;
  try {
    return JSON.parse(request.text) as Body;
  } catch {
    return undefined;
  }
}

/** A custom bot of Feishu. */
export function feishuRobot(options: RobotOptions): Robot {
  const { now, secret, keyword } = options;
  const mayPass = gate(options);
  const said = (code: number, msg: string, status = 200): ReturnType<Robot> => reply({ code, data: {}, msg }, status);
  return (request) => {
    const body = bodyOf(request);
    const text = body?.content?.text;
    if (body?.msg_type !== 'text' || typeof text !== 'string' || text === '') return said(9499, 'Bad Request', 400);
    if (Buffer.byteLength(request.text) > 20_000) return said(19036, 'message size exceeds the limit');
    if (secret !== undefined) {
      const { timestamp, sign } = body;
      const isWritten = typeof timestamp === 'string' && /^\d{10}$/.test(timestamp) && isRecent(now(), Number(timestamp) * 1000);
      if (!isWritten || sign !== createHmac('sha256', `${timestamp}\n${secret}`).update('').digest('base64')) {
        return said(19021, 'sign match fail or timestamp is not within one hour from current time');
      }
    }
    if (keyword !== undefined && !text.includes(keyword)) return said(19024, 'Key Words Not Found');
    if (!mayPass()) return said(11232, 'frequency limited psm[lark.oapi.app_platform_runtime]appID[1500]');
    return { content: text, ...reply({ StatusCode: 0, StatusMessage: 'success', code: 0, data: {}, msg: 'success' }) };
  };
}

/** A group robot of WeCom, with its key in the URL. */
export function wecomRobot(options: RobotOptions & { readonly key: string }): Robot {
  const mayPass = gate(options);
  const said = (errcode: number, text: string): ReturnType<Robot> => {
    const hint = `hint: [1708397705432012366598976], from ip: 192.0.2.7, more info at https://open.work.weixin.qq.com/devtool/query?e=${errcode}`;
    return reply({ errcode, errmsg: `${text}, ${hint}` });
  };
  return (request) => {
    const body = bodyOf(request);
    const content = body?.text?.content;
    if (new URL(request.path, 'http://robot.test').searchParams.get('key') !== options.key) return said(93000, 'invalid webhook url');
    if (body?.msgtype !== 'text' || typeof content !== 'string') return said(40008, 'invalid message type');
    if (content === '') return said(44004, 'empty content');
    if (Buffer.byteLength(content) > 2048) return said(40058, 'text.content exceed max length 2048. invalid Request Parameter');
    if (!mayPass()) return said(45009, 'api freq out of limit');
    return { content, ...reply({ errcode: 0, errmsg: 'ok' }) };
  };
}

/** A custom robot of DingTalk, which shuts out who is too fast. */
export function dingtalkRobot(options: RobotOptions): Robot {
  const { now, secret, keyword } = options;
  const mayPass = gate(options);
  let shutOutUntil = 0;
  const said = (errcode: number, errmsg: string): ReturnType<Robot> => reply({ errcode, errmsg });
  return (request) => {
    const { searchParams } = new URL(request.path, 'http://robot.test');
    const body = bodyOf(request);
    const content = body?.text?.content;
    if (!searchParams.has('access_token')) return said(40035, '缺少参数 access_token');
    if (secret !== undefined) {
      const timestamp = searchParams.get('timestamp') ?? '';
      const key = Buffer.from(secret, 'utf8');
      const expected = createHmac('sha256', key)
        .update(Buffer.from(`${timestamp}\n${secret}`, 'utf8'))
        .digest();
      if (!/^\d{13}$/.test(timestamp) || !isRecent(now(), Number(timestamp))) return said(310000, 'timestamp is invalid');
      if (!expected.equals(Buffer.from(searchParams.get('sign') ?? '', 'base64'))) {
        return said(310000, 'sign not match, more: [https://ding-doc.dingtalk.com/doc#/serverapi2/qf2nxq]');
      }
    }
    if (body?.msgtype !== 'text' || typeof content !== 'string' || content === '') return said(40035, '缺少参数 content');
    if (Buffer.byteLength(request.text) > 20_000) return said(460101, 'message too long, exceed 20000 bytes');
    if (keyword !== undefined && !content.includes(keyword)) {
      return said(310000, 'keywords not in content, more: [https://ding-doc.dingtalk.com/doc#/serverapi2/qf2nxq]');
    }
    if (now() < shutOutUntil) return said(130101, TOO_FAST);
    if (!mayPass()) {
      shutOutUntil = now() + 10 * MINUTE_MS;
      return said(130101, TOO_FAST);
    }
    return { content, ...reply({ errcode: 0, errmsg: 'ok' }) };
  };
}

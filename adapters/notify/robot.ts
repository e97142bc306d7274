/** What group robots have in common: the answer's body, not its status, says whether a message was taken. */
import type { NotifyOutcome, OutgoingHttp } from '../../kernel/index.ts';
import { type JsonObject, parsedObject } from '../shared/json.ts';
import { shown } from './outcome.ts';
import { type Answer, type Post, postJson, retryAfterOf, statusFailure } from './post-json.ts';

/** A robot's result: 0 is success. */
export interface Said {
  readonly code: number;
  readonly text: string;
}

/** How the answers of one vendor are read. */
export interface Robot {
  /** The result in a body; undefined when it has none. */
  said(body: JsonObject): Said | undefined;
  /** Whether the same message may be taken later. */
  isTemporary(said: Said): boolean;
  /** How long to wait in milliseconds when no `Retry-After` says so. */
  waitMs?(said: Said, headers: Answer['headers']): number | undefined;
}

/** The result of a body whose code and text have these names. */
export function saidUnder(codeKey: string, textKey: string, body: JsonObject): Said | undefined {
  const code = body[codeKey];
  const text = body[textKey];
  if (typeof code !== 'number') return undefined;
  return { code, text: typeof text === 'string' ? text : '' };
}

/** Sends a message to a robot once. Nothing is thrown. */
export async function sendToRobot(robot: Robot, post: Post, http: OutgoingHttp, signal: AbortSignal): Promise<NotifyOutcome> {
  const posted = await postJson(post, http, signal);
  if (!posted.ok) return posted;
  const { answer } = posted;
  const body = parsedObject(answer.text);
  const said = body === undefined ? undefined : robot.said(body);
  // Some refusals have a 4xx status as well, and then a code that says more than the status.
  if (said !== undefined && said.code !== 0 && isAnswer(answer)) return failed(robot, post, said, answer);
  const failure = statusFailure(post, answer);
  if (failure !== undefined) return failure;
  if (said !== undefined) return { ok: true };
  const message = `${post.label} answered ${answer.status} without a result code, so the message may or may not have arrived`;
  return { ok: false, kind: 'unknown', message };
}

/** Errors of servers and their gateways are read by their status. */
const isAnswer = ({ status }: Answer): boolean => (status >= 200 && status < 300) || (status >= 400 && status < 500);

function failed(robot: Robot, { label, target, at }: Post, said: Said, { status, headers }: Answer): NotifyOutcome {
  const text = shown(said.text, target);
  const message = text === '' ? `${label} answered with code ${said.code}` : `${label} answered: ${text}`;
  const failure = { ok: false, message, code: String(said.code) } as const;
  if (status !== 429 && !robot.isTemporary(said)) return { ...failure, kind: 'refused' };
  const retryAfterMs = retryAfterOf(headers, at) ?? robot.waitMs?.(said, headers);
  return { ...failure, kind: 'later', ...(retryAfterMs !== undefined && { retryAfterMs }) };
}

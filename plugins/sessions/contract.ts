/** Sessions: who talks with which agent, and what was said. */
import type { Statement, TurnRequest } from '../../kernel/index.ts';
export { sessionSchema } from './schemas.ts';

/** What makes a session: `<channel>:<user>:<agent>`, built here and nowhere else. */
export interface SessionKey {
  readonly channel: string;
  readonly userId: string;
  readonly agent: string;
}

/** A stored message as the API shows it: what does not apply to its role is null, and `toolCalls` is always a list. */
export interface MessageView {
  readonly role: 'user' | 'assistant' | 'tool';
  readonly content: string;
  readonly toolName: string | null;
  readonly toolCallId: string | null;
  readonly toolCalls: readonly { readonly id: string; readonly name: string; readonly argumentsJson: string }[];
}

/** A session with its last messages, oldest first. */
export interface SessionView {
  readonly sessionId: string;
  readonly profileName: string;
  readonly messages: readonly MessageView[];
}

/** Who talks with whom; the id is made from channel, user and agent. */
export interface Session {
  readonly sessionId: string;
  readonly agent: string;
  readonly channel: string;
  readonly userId: string;
  readonly status: 'active' | 'archived';
}

/** The service `sessions`. Messages come and go through the service `history`. */
export interface Sessions {
  /**
   * Gets or creates; two at once yield one. Throws ORYX_INVALID_INPUT for a bad user id. Does not check the agent.
   *
   * @param id  for sessions that are not named after who talks in them, such as `schedule:<id>`; default: made from the key
   */
  open(key: SessionKey, id?: string): Promise<Session>;
  /** Throws ORYX_NOT_FOUND. */
  find(sessionId: string): Promise<Session>;
  /** The last 100 messages. Throws ORYX_NOT_FOUND. */
  view(sessionId: string): Promise<SessionView>;
  /** Statements that make an archived session active again; they go with a turn's acceptance. */
  revived(sessionId: string, at: number): readonly Statement[];
  /** Archives all sessions of an agent; a later agent of that name starts afresh. */
  archiveAllOf(agent: string): Promise<void>;
  /**
   * The whole text of a tool result that a turn before this one kept in the session, the newest when an id occurs twice; undefined for
   * none, and for turns that are not persistent.
   */
  resultOf(turn: TurnRequest, toolCallId: string): Promise<string | undefined>;
}

declare module '../../kernel/index.ts' {
  interface Services {
    sessions: Sessions;
  }
}

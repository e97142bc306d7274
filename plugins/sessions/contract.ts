/** Sessions: who talks with which agent, and what was said. */
import type { Statement } from '../../kernel/index.ts';

/** What makes a session: `<channel>:<user>:<agent>`, built here and nowhere else. */
export interface SessionKey {
  readonly channel: string;
  readonly userId: string;
  readonly agent: string;
}

export interface MessageView {
  readonly role: 'user' | 'assistant' | 'tool';
  readonly content: string;
  readonly toolName: string | null;
  readonly toolCallId: string | null;
  readonly toolCalls: readonly { readonly id: string; readonly name: string; readonly argumentsJson: string }[];
}

export interface SessionView {
  readonly sessionId: string;
  readonly profileName: string;
  readonly messages: readonly MessageView[];
}

export interface Session {
  readonly sessionId: string;
  readonly agent: string;
  readonly channel: string;
  readonly userId: string;
  readonly status: 'active' | 'archived';
}

export interface Sessions {
  /** Gets or creates; two at once yield one. Throws ORYX_INVALID_INPUT for a bad user id. Does not check the agent. */
  open(key: SessionKey): Promise<Session>;
  /** Throws ORYX_NOT_FOUND. */
  find(sessionId: string): Promise<Session>;
  /** The last 100 messages. Throws ORYX_NOT_FOUND. */
  view(sessionId: string): Promise<SessionView>;
  /** Statements that make an archived session active again; they go with a turn's acceptance. */
  revived(sessionId: string, at: number): readonly Statement[];
  /** Archives all sessions of an agent; a later agent of that name starts afresh. */
  archiveAllOf(agent: string): Promise<void>;
}

declare module '../../kernel/index.ts' {
  interface Services {
    sessions: Sessions;
  }
}

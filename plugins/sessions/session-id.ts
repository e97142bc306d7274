import { invalidInput } from '../../kernel/index.ts';
import type { SessionKey } from './contract.ts';

const USER_ID = /^[A-Za-z0-9_.@-]{1,64}$/;

/** The one place where session ids are made: `<channel>:<user>:<agent>`. Throws ORYX_INVALID_INPUT for a user id that could be mistaken. */
export function sessionId({ channel, userId, agent }: SessionKey): string {
  if (!USER_ID.test(userId)) throw invalidInput('userId must be 1 to 64 characters from A-Z a-z 0-9 _ . @ -');
  return `${channel}:${userId}:${agent}`;
}

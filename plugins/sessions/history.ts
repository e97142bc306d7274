import type { History, Store } from '../../kernel/index.ts';
import { messageInserted, messagesBefore, turnEnded, turnInserted } from './message-repository.ts';
import { messageOfRow } from './message-row.ts';
import { sessionTouched } from './session-repository.ts';

/**
 * The history of sessions as rows. Turns stand in the order in which they were accepted: the user message of a waiting turn is stored at
 * once and yet comes after everything that the turns before it will still add. A turn that failed stays in the history with what was done.
 */
export function sessionHistory(store: Store): History {
  return {
    async before(request, maxTurns) {
      if (!request.persistent || maxTurns <= 1) return [];
      return (await messagesBefore(store, request, maxTurns - 1)).map(messageOfRow);
    },

    accepted(request, at) {
      if (!request.persistent) return [];
      return [
        turnInserted(request),
        messageInserted(request.id, 0, { role: 'user', content: request.input }, at),
        sessionTouched(request.sessionId, 1, at),
      ];
    },

    ended(request, messages, at) {
      if (!request.persistent) return [];
      return [
        ...messages.map((message, index) => messageInserted(request.id, index + 1, message, at)),
        turnEnded(request.id, at),
        sessionTouched(request.sessionId, messages.length, at),
      ];
    },
  };
}

import type { Clock, Store } from '../../kernel/index.ts';
import { conflict, invalidInput, isOryxError } from '../../kernel/index.ts';
import type { Idempotency, KeyedRequest } from './contract.ts';
import { fingerprint } from './fingerprint.ts';
import { findKey, keyInserted, keysPruned } from './idempotency-repository.ts';

const HEADER = 'Idempotency-Key';
const KEY = /^[\x21-\x7e]{1,255}$/;
const LIFETIME_MS = 24 * 60 * 60 * 1000;
/** Every new key clears away up to this many expired ones, so that the table shrinks without a timer. */
const PRUNE_LIMIT = 20;

/** Keeps keys in `store`, next to the runs that they stand for. */
export function idempotencyKeys(store: Store, clock: Clock): Idempotency {
  return {
    async once(request, turnId, accept) {
      const key = request.header(HEADER.toLowerCase());
      if (key === undefined) {
        await accept([]);
        return turnId;
      }
      if (!KEY.test(key)) throw invalidInput(`${HEADER} must be 1 to 255 visible ASCII characters`);

      const now = clock.now();
      const row = { scope: scopeOf(request), key, body_hash: fingerprint(request.body), turn_id: turnId, created_at: now };
      const earlierTurn = async (): Promise<string | undefined> => {
        const found = await findKey(store, row.scope, key, now - LIFETIME_MS);
        if (found === undefined) return undefined;
        if (found.body_hash === row.body_hash) return found.turn_id;
        throw conflict(`${HEADER} "${key}" was used with another body: send the same body again, or another key`);
      };

      const earlier = await earlierTurn();
      if (earlier !== undefined) return earlier;
      try {
        await accept([...keyInserted(row, now - LIFETIME_MS), keysPruned(now - LIFETIME_MS, PRUNE_LIMIT)]);
        return turnId;
      } catch (error) {
        if (!isOryxError(error) || error.code !== 'ORYX_STORE_CONSTRAINT') throw error;
        // An equal request was accepted between the look and the commit.
        const winner = await earlierTurn();
        if (winner === undefined) throw error;
        return winner;
      }
    },
  };
}

/** Method and path; the path is the same however its segments were percent-encoded. */
function scopeOf({ method, path }: KeyedRequest): string {
  const segments = path.split('/').map((segment) => encodeURIComponent(decodeURIComponent(segment)));
  return `${method} ${segments.join('/')}`;
}

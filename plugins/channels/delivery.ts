/** Brings one answer to its chat, part by part. */
import { messageOf, type NotifyOutcome } from '../../kernel/index.ts';
import { pause, writeAtLast, type WriteAtLastParts } from '../executions/contract.ts';
import { answerEnded, type ChannelMessageRow, partBegun, partPutBack, partsArrived } from './channel-message-repository.ts';
import { splitText } from '../notify/contract.ts';
import type { Connections } from './connections.ts';
import { withDeadline } from './with-deadline.ts';

const ATTEMPT_MS = 60_000;
const FIRST_WAIT_MS = 1_000;
const MAX_WAIT_MS = 5 * 60 * 1000;
/** An answer that cannot be brought for so long is of no use any more. */
const MAX_AGE_MS = 24 * 3600 * 1000;

/** What bringing answers needs; `signal` ends it. */
export interface DeliveryParts extends WriteAtLastParts {
  readonly connections: Connections;
  /** Hides secrets in reasons. */
  readonly mask: (text: string) => string;
}

/** `over`: all parts have arrived. `stale`: a part may have arrived, and the service would not know any more that it is the same. */
type Attempt = NotifyOutcome | 'over' | 'stale';

/**
 * Sends what is missing of an answer, and resolves when its end is recorded, or when the server stops. Every part is written down before it
 * goes out, so that after a crash it is known what may have arrived.
 */
export async function deliver(row: ChannelMessageRow, text: string, parts: DeliveryParts): Promise<void> {
  const { clock, log, signal, mask } = parts;
  const write = (...rows: Parameters<typeof writeAtLast>[2]): Promise<boolean> => writeAtLast(parts, `the answer of run ${row.id}`, rows);
  const end = async (state: 'answered' | 'failed' | 'unknown', reason: string | null): Promise<void> => {
    if (state !== 'answered') log.warn('an answer did not reach its chat', { traceId: row.id, channel: row.channel, state, reason });
    await write(answerEnded(row.id, state, reason, clock.now()));
  };

  let sent = row.parts_sent;
  let unsureSince = row.unsure_since;
  let reason = '';
  for (let failures = 0; !signal.aborted; ) {
    const before = unsureSince;
    const outcome = await attempt(row, text, sent, unsureSince, parts, async (since) => {
      unsureSince = since;
      return await write(partBegun(row.id, since));
    });
    if (outcome === 'over') return await end('answered', null);
    if (outcome === 'stale') return await end('unknown', reason || 'the server stopped while it was sent');
    if (outcome.ok) {
      sent += 1;
      unsureSince = null;
      failures = 0;
      if (!(await write(partsArrived(row.id, sent)))) return;
      continue;
    }

    reason = mask(outcome.message);
    if (outcome.kind === 'refused') return await end('failed', reason);
    if (outcome.kind === 'later' && before === null) {
      unsureSince = null;
      if (!(await write(partPutBack(row.id, reason)))) return;
    }
    if (clock.now() - row.created_at > MAX_AGE_MS) return await end(unsureSince === null ? 'failed' : 'unknown', reason);
    const waitMs = Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** failures);
    failures += 1;
    log.info('an answer is sent again later', { traceId: row.id, channel: row.channel, reason, failures });
    await pause(clock, Math.max(waitMs, Math.min(outcome.retryAfterMs ?? 0, MAX_WAIT_MS)), signal);
  }
}

/** @param begin  makes it durable that the part may arrive from now on; false when the server stops first */
async function attempt(
  row: ChannelMessageRow,
  text: string,
  sent: number,
  unsureSince: number | null,
  { connections, clock, signal }: DeliveryParts,
  begin: (since: number) => Promise<boolean>,
): Promise<Attempt> {
  let isBegun = false;
  try {
    return await connections.use(row.channel, row.kind, async (connection, adapter) => {
      const sizeOf = (content: string): number => adapter.sizeOf?.(content) ?? Buffer.byteLength(content);
      const maxSize = adapter.maxSize ?? Number.POSITIVE_INFINITY;
      // A chat takes no message of nothing but blanks.
      const content = splitText(text, (part) => sizeOf(part) <= maxSize).filter((part) => part.trim() !== '')[sent];
      if (content === undefined) return 'over';
      const at = clock.now();
      if (unsureSince !== null && at - unsureSince > (adapter.repeatableForMs ?? 0)) return 'stale';
      if (!(await begin(unsureSince ?? at))) return { ok: false, kind: 'later', message: 'the server is stopping' };
      isBegun = true;
      const reply = { messageId: row.message_id, content, key: `${row.id}-${sent + 1}`, at };
      return await withDeadline(clock, ATTEMPT_MS, signal, (limit) => connection.reply(reply, limit));
    });
  } catch (error) {
    return { ok: false, kind: isBegun ? 'unknown' : 'later', message: messageOf(error) };
  }
}

import type { SqlValue } from '../../kernel/index.ts';

/**
 * The next place in a run, as an SQL expression; null when there is no run. Writes follow one another, so no place is given twice, also when
 * a run goes on in another process. Its parameters: `nextSeqParams`.
 */
export const NEXT_SEQ = `CASE WHEN ? IS NULL THEN NULL ELSE 1 + max(
  coalesce((SELECT max(seq) FROM llm_calls WHERE trace_id = ?), 0),
  coalesce((SELECT max(seq) FROM tool_invocations WHERE trace_id = ?), 0)
) END`;

/** What `NEXT_SEQ` is bound to. */
export const nextSeqParams = (traceId: string | null): readonly SqlValue[] => [traceId, traceId, traceId];

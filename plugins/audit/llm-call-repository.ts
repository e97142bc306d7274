import type { LlmAttempt, Statement, Store } from '../../kernel/index.ts';
import type { AuditedLlmCall, AuditSubject } from './contract.ts';
import type { Group, Window } from './window.ts';
import { NEXT_SEQ, nextSeqParams } from './next-seq-repository.ts';

/** One line of the list of model calls. Times in epoch milliseconds. */
export interface LlmCallRow {
  readonly id: number;
  readonly profile_name: string | null;
  readonly provider: string;
  readonly model: string;
  readonly prompt_tokens: number | null;
  readonly completion_tokens: number | null;
  readonly total_tokens: number | null;
  readonly cost_micros: number | null;
  readonly attempt: number | null;
  readonly outcome: LlmAttempt['outcome'];
  readonly success: 0 | 1;
  readonly duration_ms: number;
  readonly created_at: number;
  readonly trace_id: string | null;
}

/** Sums over a window. A sum of numbers of which none is known is null; over no rows it is 0. */
export interface LlmSummaryRow {
  readonly count: number;
  readonly success_count: number;
  readonly prompt_tokens: number | null;
  readonly completion_tokens: number | null;
  readonly cost_micros: number | null;
  readonly avg_duration_ms: number | null;
}

/** What model calls can be grouped by. */
export type LlmGrouping = 'model' | 'provider' | 'profile_name';

const WITHIN = 'created_at >= ? AND created_at <= ?';
const COLUMNS =
  'id, profile_name, provider, model, prompt_tokens, completion_tokens, total_tokens, cost_micros, attempt, outcome, success, duration_ms, created_at, trace_id';
const GROUPS: Readonly<Record<LlmGrouping, string>> = {
  model: grouped('model'),
  provider: grouped('provider'),
  profile_name: grouped('profile_name'),
};

/** Adds the row of an attempt. `costMicros` is null when no price is known. */
export function llmCallInserted(
  attempt: LlmAttempt,
  { sessionId, agentName, traceId }: AuditSubject,
  at: number,
  costMicros: number | null,
): Statement {
  const { reply, failure, outcome } = attempt;
  const usage = reply?.usage;
  const reason = outcome === 'interrupted' ? 'interrupted by a restart' : failure?.message;
  return {
    sql: `INSERT INTO llm_calls (session_id, profile_name, trace_id, call, attempt, provider, model, prompt_tokens, completion_tokens,
        total_tokens, cached_tokens, reasoning_tokens, cost_micros, outcome, success, duration_ms, created_at, error_message, seq)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ${NEXT_SEQ})`,
    params: [
      sessionId,
      agentName,
      traceId,
      attempt.call,
      attempt.attempt,
      attempt.provider,
      attempt.model,
      usage?.promptTokens ?? null,
      usage?.completionTokens ?? null,
      usage?.totalTokens ?? null,
      usage?.cachedTokens ?? null,
      usage?.reasoningTokens ?? null,
      costMicros,
      outcome,
      outcome === 'success' ? 1 : 0,
      Math.round(attempt.durationMs),
      at,
      reason ?? null,
      ...nextSeqParams(traceId),
    ],
  };
}

/** The newest calls of a window, newest first. */
export const llmCalls = (store: Store, { from, to }: Window, limit: number): Promise<readonly LlmCallRow[]> =>
  store.all<LlmCallRow>(`SELECT ${COLUMNS} FROM llm_calls WHERE ${WITHIN} ORDER BY created_at DESC, id DESC LIMIT ?`, from, to, limit);

/** All calls of a window, added up. */
export async function llmSummary(store: Store, { from, to }: Window): Promise<LlmSummaryRow> {
  const row = await store.get<LlmSummaryRow>(
    `SELECT count(*) AS count, total(success) AS success_count, avg(duration_ms) AS avg_duration_ms, ${summed('prompt_tokens')},
      ${summed('completion_tokens')}, ${summed('cost_micros')} FROM llm_calls WHERE ${WITHIN}`,
    from,
    to,
  );
  return row as LlmSummaryRow;
}

/** The calls of a window by one of their properties, the most frequent first. */
export const llmGroups = (store: Store, by: LlmGrouping, { from, to }: Window): Promise<readonly Group[]> =>
  store.all<Group>(GROUPS[by], from, to);

/** The calls of a run in order. */
export async function llmCallsOf(store: Store, traceId: string): Promise<readonly AuditedLlmCall[]> {
  const rows = await store.all<LlmCallRow & { readonly seq: number; readonly call: number | null; readonly error_message: string | null }>(
    `SELECT ${COLUMNS}, seq, call, error_message FROM llm_calls WHERE trace_id = ? ORDER BY seq`,
    traceId,
  );
  return rows.map((row) => ({
    type: 'LLM',
    seq: row.seq,
    provider: row.provider,
    model: row.model,
    call: row.call,
    attempt: row.attempt,
    outcome: row.outcome,
    success: row.success === 1,
    errorMessage: row.error_message,
    durationMs: row.duration_ms,
    at: row.created_at,
    promptTokens: row.prompt_tokens,
    completionTokens: row.completion_tokens,
    totalTokens: row.total_tokens,
    costMicros: row.cost_micros,
  }));
}

/** Removes up to `limit` calls from before `before`, oldest first. */
export const llmCallsPruned = (before: number, limit: number): Statement => ({
  sql: 'DELETE FROM llm_calls WHERE id IN (SELECT id FROM llm_calls WHERE created_at < ? ORDER BY created_at LIMIT ?)',
  params: [before, limit],
});

function summed(column: string): string {
  return `CASE WHEN count(*) = 0 THEN 0 ELSE sum(${column}) END AS ${column}`;
}

function grouped(column: LlmGrouping): string {
  return `SELECT ${column} AS key, count(*) AS count, sum(success) AS success_count, sum(cost_micros) AS cost_micros
    FROM llm_calls WHERE ${WITHIN} GROUP BY 1 ORDER BY 2 DESC, 1`;
}

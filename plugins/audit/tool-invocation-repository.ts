import type { Statement, Store } from '../../kernel/index.ts';
import type { CappedText } from './capped-text.ts';
import type { AuditedToolCall, AuditSubject } from './contract.ts';
import { NEXT_SEQ, nextSeqParams } from './next-seq-repository.ts';
import type { Group, Window } from './window.ts';

/** One call as it is recorded. */
export interface ToolInvocation {
  readonly callId: string;
  readonly toolName: string;
  readonly success: boolean;
  readonly blockedBy: string | null;
  readonly durationMs: number;
  readonly input: CappedText;
  readonly result: CappedText;
  readonly error: CappedText;
}

/** One line of the list of tool calls. Times in epoch milliseconds. */
export interface ToolInvocationRow {
  readonly id: number;
  readonly profile_name: string | null;
  readonly tool_name: string;
  readonly success: 0 | 1;
  readonly blocked_by: string | null;
  readonly duration_ms: number;
  readonly created_at: number;
  readonly trace_id: string | null;
}

/** Sums over a window. */
export interface ToolSummaryRow {
  readonly count: number;
  readonly success_count: number;
  readonly avg_duration_ms: number | null;
}

const WITHIN = 'created_at >= ? AND created_at <= ?';
const COLUMNS = 'id, profile_name, tool_name, success, blocked_by, duration_ms, created_at, trace_id';

/** Adds the row of a call. */
export function toolInvocationInserted(call: ToolInvocation, { sessionId, agentName, traceId }: AuditSubject, at: number): Statement {
  const { input, result, error } = call;
  return {
    sql: `INSERT INTO tool_invocations (session_id, profile_name, trace_id, call_id, tool_name, success, blocked_by, duration_ms, created_at,
        input_bytes, input_sha256, result_bytes, result_sha256, error_bytes, error_sha256, input_json, result_json, error_message, seq)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ${NEXT_SEQ})`,
    params: [
      sessionId,
      agentName,
      traceId,
      call.callId,
      call.toolName,
      call.success ? 1 : 0,
      call.blockedBy,
      Math.round(call.durationMs),
      at,
      input.bytes,
      input.sha256,
      result.bytes,
      result.sha256,
      error.bytes,
      error.sha256,
      input.text,
      result.text,
      error.text,
      ...nextSeqParams(traceId),
    ],
  };
}

/**
 * The newest calls of a window, newest first.
 *
 * @param blockedBy  only calls that this guard refused
 */
export function toolInvocations(
  store: Store,
  { from, to }: Window,
  limit: number,
  blockedBy: string | undefined,
): Promise<readonly ToolInvocationRow[]> {
  const newest = 'ORDER BY created_at DESC, id DESC LIMIT ?';
  if (blockedBy === undefined)
    return store.all<ToolInvocationRow>(`SELECT ${COLUMNS} FROM tool_invocations WHERE ${WITHIN} ${newest}`, from, to, limit);
  const sql = `SELECT ${COLUMNS} FROM tool_invocations WHERE blocked_by = ? AND ${WITHIN} ${newest}`;
  return store.all<ToolInvocationRow>(sql, blockedBy, from, to, limit);
}

/** All calls of a window, added up. */
export async function toolSummary(store: Store, { from, to }: Window): Promise<ToolSummaryRow> {
  const row = await store.get<ToolSummaryRow>(
    `SELECT count(*) AS count, total(success) AS success_count, avg(duration_ms) AS avg_duration_ms FROM tool_invocations WHERE ${WITHIN}`,
    from,
    to,
  );
  return row as ToolSummaryRow;
}

/** The calls of a window by tool, the most frequent first. */
export const toolGroups = (store: Store, { from, to }: Window): Promise<readonly Group[]> =>
  store.all<Group>(
    `SELECT tool_name AS key, count(*) AS count, sum(success) AS success_count, NULL AS cost_micros
      FROM tool_invocations WHERE ${WITHIN} GROUP BY 1 ORDER BY 2 DESC, 1`,
    from,
    to,
  );

/** The calls of a run in order. */
export async function toolInvocationsOf(store: Store, traceId: string): Promise<readonly AuditedToolCall[]> {
  const rows = await store.all<
    ToolInvocationRow & {
      readonly seq: number;
      readonly input_json: string | null;
      readonly result_json: string | null;
      readonly error_message: string | null;
    }
  >(`SELECT ${COLUMNS}, seq, input_json, result_json, error_message FROM tool_invocations WHERE trace_id = ? ORDER BY seq`, traceId);
  return rows.map((row) => ({
    type: 'TOOL',
    seq: row.seq,
    toolName: row.tool_name,
    success: row.success === 1,
    errorMessage: row.error_message,
    durationMs: row.duration_ms,
    at: row.created_at,
    input: row.input_json,
    result: row.result_json,
    blockedBy: row.blocked_by,
  }));
}

/** Removes up to `limit` calls from before `before`, oldest first. */
export const toolInvocationsPruned = (before: number, limit: number): Statement => ({
  sql: 'DELETE FROM tool_invocations WHERE id IN (SELECT id FROM tool_invocations WHERE created_at < ? ORDER BY created_at LIMIT ?)',
  params: [before, limit],
});

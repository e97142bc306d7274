import type { Statement, Store } from '../../kernel/index.ts';
import type { NewExecution, RunEnding } from './contract.ts';

/** A run as the table holds it; times in epoch milliseconds. */
export interface ExecutionRow {
  readonly id: number;
  readonly agent_name: string;
  readonly source: NewExecution['source'];
  readonly session_id: string | null;
  readonly trace_id: string | null;
  readonly status: 'running' | RunEnding['status'];
  readonly started_at: number;
  readonly ended_at: number | null;
  readonly error_message: string | null;
  readonly reason: string | null;
  readonly duration_ms: number | null;
  readonly timeout_ms: number | null;
}

const COLUMNS =
  'id, agent_name, source, session_id, trace_id, status, started_at, ended_at, error_message, reason, duration_ms, timeout_ms';

/** Adds a run that begins. */
export const executionBegun = (execution: NewExecution): Statement => ({
  sql: `INSERT INTO agent_executions (agent_name, source, session_id, trace_id, status, started_at, timeout_ms)
    VALUES (?, ?, ?, ?, 'running', ?, ?)`,
  params: [execution.agent, execution.source, execution.sessionId, execution.traceId, execution.startedAt, execution.timeoutMs ?? null],
});

/** Notes the end of a run; changes nothing for one that has ended. */
export const executionEnded = (traceId: string, ending: RunEnding): Statement => ({
  sql: `UPDATE agent_executions SET status = ?, success = ?, error_message = ?, reason = ?, ended_at = ?, duration_ms = max(0, ? - started_at)
    WHERE trace_id = ? AND status = 'running'`,
  params: [ending.status, ending.status === 'success' ? 1 : 0, ending.errorMessage, ending.reason, ending.endedAt, ending.endedAt, traceId],
});

/** Notes that a run is being stopped at its deadline, for whoever finds it stopped. */
export const executionExpired = (traceId: string): Statement => ({
  sql: "UPDATE agent_executions SET reason = 'timeout' WHERE trace_id = ? AND status = 'running'",
  params: [traceId],
});

/** One run. */
export function findExecution(store: Store, traceId: string): Promise<ExecutionRow | undefined> {
  return store.get<ExecutionRow>(`SELECT ${COLUMNS} FROM agent_executions WHERE trace_id = ?`, traceId);
}

/** Runs of an agent, newest first. */
export function executionsOf(store: Store, agent: string, limit: number): Promise<readonly ExecutionRow[]> {
  const newest = 'ORDER BY started_at DESC, id DESC LIMIT ?';
  return store.all<ExecutionRow>(`SELECT ${COLUMNS} FROM agent_executions WHERE agent_name = ? ${newest}`, agent, limit);
}

/** Runs without an end, oldest first. */
export function runningExecutions(store: Store): Promise<readonly ExecutionRow[]> {
  return store.all<ExecutionRow>(`SELECT ${COLUMNS} FROM agent_executions WHERE status = 'running' ORDER BY id`);
}

/** The tables `turns` and `steps`. */
import type { ErrorCode, Origin, Statement, StopReason, Store, TurnOutcome, TurnRequest } from '../../kernel/index.ts';
import { ERROR_STATUS, OryxError } from '../../kernel/index.ts';
import type { PartedJson } from './parted-json.ts';

/** A turn that has not ended, as an earlier process left it. */
export interface UnfinishedTurn {
  readonly request: TurnRequest;
  readonly agentVersion: string | undefined;
  /** How often it has been started. */
  readonly attempts: number;
  readonly acceptedAt: number;
}

/** A journal entry of an unfinished turn. `started` and `done` are the two that survive a crash. */
export interface StepRow {
  readonly name: string;
  readonly state: 'started' | 'done';
  readonly idempotent: boolean;
  readonly valueJson: string | null;
}

/** Reads the engine's tables and builds the statements that change them. */
export interface TurnRepository {
  accept(request: TurnRequest, agentVersion: string | undefined, at: number): Statement;
  start(turnId: string, agentVersion: string): Statement;
  end(outcome: TurnOutcome, at: number): Statement;
  stepStarted(turnId: string, name: string, idempotent: boolean, at: number): Statement;
  stepDone(turnId: string, name: string, idempotent: boolean, value: PartedJson, at: number): Statement;
  stepForgotten(turnId: string, name: string): Statement;
  unfinished(): Promise<readonly UnfinishedTurn[]>;
  stepsOf(turnId: string): Promise<readonly StepRow[]>;
  /** undefined: never accepted; null: not ended. */
  outcome(turnId: string): Promise<TurnOutcome | null | undefined>;
}

interface TurnRow {
  readonly id: string;
  readonly profile_name: string;
  readonly session_id: string;
  readonly origin: Origin;
  readonly input: string;
  readonly persistent: number;
  readonly agent_version: string | null;
  readonly attempts: number;
  readonly accepted_at: number;
}

interface EndRow {
  readonly status: TurnOutcome['status'];
  readonly reply: string | null;
  readonly stop_reason: StopReason | null;
  readonly error_code: string | null;
  readonly error_message: string | null;
  readonly ended_at: number | null;
}

/** @param store  where the tables are; migrated already */
export function turnRepository(store: Store): TurnRepository {
  return {
    accept: (request, agentVersion, at) => ({
      sql: `INSERT INTO turns (id, profile_name, session_id, origin, input, persistent, status, agent_version, attempts, accepted_at)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`,
      params: [
        request.id,
        request.profile,
        request.sessionId,
        request.origin,
        request.input,
        request.persistent ? 1 : 0,
        agentVersion === undefined ? 'accepted' : 'running',
        agentVersion ?? null,
        agentVersion === undefined ? 0 : 1,
        at,
      ],
      expect: 1,
    }),
    start: (turnId, agentVersion) => ({
      sql: `UPDATE turns SET status = 'running', agent_version = ?, attempts = attempts + 1 WHERE id = ? AND ended_at IS NULL`,
      params: [agentVersion, turnId],
      expect: 1,
    }),
    end: (outcome, at) => ({
      sql: `UPDATE turns SET status = ?, reply = ?, stop_reason = ?, error_code = ?, error_message = ?, ended_at = ? WHERE id = ? AND ended_at IS NULL`,
      params: [
        outcome.status,
        outcome.reply,
        outcome.stopReason,
        outcome.error?.code ?? null,
        outcome.error?.message ?? null,
        at,
        outcome.turnId,
      ],
      expect: 1,
    }),
    stepStarted: (turnId, name, idempotent, at) => ({
      sql: `INSERT INTO steps (turn_id, name, state, idempotent, at) VALUES (?, ?, 'started', ?, ?)`,
      params: [turnId, name, idempotent ? 1 : 0, at],
    }),
    stepDone: (turnId, name, idempotent, { json, texts }, at) => ({
      sql: `INSERT INTO steps (turn_id, name, state, idempotent, value_json, at) VALUES (?, ?, 'done', ?, ${jsonWith(texts.length)}, ?)
        ON CONFLICT (turn_id, name) DO UPDATE SET state = 'done', value_json = excluded.value_json, at = excluded.at WHERE state = 'started'`,
      params: [turnId, name, idempotent ? 1 : 0, json, ...texts.flat(), at],
      expect: 1,
    }),
    stepForgotten: (turnId, name) => ({
      sql: `DELETE FROM steps WHERE turn_id = ? AND name = ? AND state = 'started'`,
      params: [turnId, name],
      expect: 1,
    }),
    unfinished: async () => (await store.all<TurnRow>('SELECT * FROM turns WHERE ended_at IS NULL ORDER BY seq')).map(unfinishedFrom),
    stepsOf: async (turnId) => {
      const rows = await store.all<{ name: string; state: StepRow['state']; idempotent: number; value_json: string | null }>(
        'SELECT name, state, idempotent, value_json FROM steps WHERE turn_id = ?',
        turnId,
      );
      return rows.map((row) => ({ name: row.name, state: row.state, idempotent: row.idempotent === 1, valueJson: row.value_json }));
    },
    outcome: async (turnId) => {
      const row = await store.get<EndRow>(
        'SELECT status, reply, stop_reason, error_code, error_message, ended_at FROM turns WHERE id = ?',
        turnId,
      );
      if (row === undefined) return undefined;
      return row.ended_at === null ? null : outcomeFrom(turnId, row);
    },
  };
}

/** A JSON parameter into which so many texts are put, each a parameter for its path and one for itself. */
const jsonWith = (texts: number): string => (texts === 0 ? '?' : `json_set(?${', ?, ?'.repeat(texts)})`);

function unfinishedFrom(row: TurnRow): UnfinishedTurn {
  const { id, profile_name: profile, session_id: sessionId, origin, input } = row;
  const request: TurnRequest = { id, profile, sessionId, origin, input, persistent: row.persistent === 1 };
  return { request, agentVersion: row.agent_version ?? undefined, attempts: row.attempts, acceptedAt: row.accepted_at };
}

function outcomeFrom(turnId: string, row: EndRow): TurnOutcome {
  const ended = { turnId, status: row.status, reply: row.reply ?? '', stopReason: row.stop_reason ?? 'error', messages: [] };
  if (row.error_code === null) return ended;
  const code: ErrorCode = row.error_code in ERROR_STATUS ? (row.error_code as ErrorCode) : 'ORYX_INTERNAL';
  return { ...ended, error: new OryxError(code, row.error_message ?? '') };
}

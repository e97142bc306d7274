import { type ErrorCode, isOryxError, type TurnOutcome } from '../../kernel/index.ts';
import type { RunEnding } from './contract.ts';

const REASONS: Partial<Record<ErrorCode, string>> = { ORYX_CANCELLED: 'cancelled', ORYX_TURN_TIMEOUT: 'timeout' };

/** How a run ended, from its outcome. */
export function endingOf(outcome: TurnOutcome, endedAt: number): RunEnding {
  if (outcome.status === 'completed') {
    const reason = outcome.stopReason === 'completed' ? null : outcome.stopReason;
    return { status: 'success', errorMessage: null, reason, endedAt };
  }
  const errorMessage = outcome.error?.message ?? `the run ended ${outcome.status}`;
  const known = isOryxError(outcome.error) ? REASONS[outcome.error.code] : undefined;
  return { status: outcome.status, errorMessage, reason: known ?? errorMessage, endedAt };
}

/** The end of a run that was stopped at its deadline. */
export function timedOut(timeoutMs: number, endedAt: number): RunEnding {
  return { status: 'failed', errorMessage: `timed out after ${timeoutMs / 1000} s`, reason: 'timeout', endedAt };
}

/** The end of a run that nobody can go on with. */
export function lost(endedAt: number): RunEnding {
  const errorMessage = 'the server stopped during the run and it could not be taken up again';
  return { status: 'interrupted', errorMessage, reason: errorMessage, endedAt };
}

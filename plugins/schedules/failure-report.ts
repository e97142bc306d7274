import { messageOf } from '../../kernel/index.ts';
import type { FailureNotifier } from './contract.ts';
import type { LiveSchedule } from './live-schedule.ts';
import type { TaskEnding } from './task-execution-repository.ts';

/**
 * Tells a channel that a run failed.
 *
 * @returns a clause that says whether it was told; never rejects
 */
export async function failureReport(
  notifier: FailureNotifier | undefined,
  channel: string,
  { profile, name }: Pick<LiveSchedule, 'profile' | 'name'>,
  { status, errorMessage }: TaskEnding,
  traceId: string,
): Promise<string> {
  if (notifier === undefined) return `"${channel}" was not told: no plugin here can send notifications`;
  const content = `Schedule "${name}" of agent "${profile}" ${status}: ${errorMessage ?? 'no reason is known'}\nTrace: ${traceId}`;
  try {
    await notifier.notify(channel, content, `schedule-failure:${traceId}`, { traceId, agent: profile });
    return `"${channel}" was told`;
  } catch (error) {
    return `"${channel}" could not be told: ${messageOf(error)}`;
  }
}

/** What is to become of slots that have come. Pure. */
import type { LiveSchedule } from './live-schedule.ts';
import { type Slots, slotsBetween } from './slots.ts';
import { LOOK_MS } from './timetable.ts';

/** Slots that do not run, and why. */
export interface UnrunSlots {
  readonly status: 'skipped' | 'missed';
  readonly reason: string;
  readonly slots: Slots;
}

/** `slots` are all that have come; `run` is the one to run, `unrun` are the others. */
export interface SlotPlan {
  readonly slots: Slots;
  readonly run: number | undefined;
  readonly unrun: UnrunSlots | undefined;
}

/** Reason of slots that a schedule lets pass because it is switched off. */
export const DISABLED = 'disabled';
/** Reason of slots that come while the schedule's run goes on. */
export const STILL_RUNNING = 'still running';

/**
 * Decides about the slots since the last look; undefined when there are none. At most the newest one runs.
 *
 * @param startedAt  epoch milliseconds: slots before it came while nobody looked
 */
export function slotPlan(schedule: LiveSchedule, now: number, startedAt: number): SlotPlan | undefined {
  const { expression, timeZone, rules, evaluatedAt } = schedule;
  const slots = slotsBetween(expression, timeZone, evaluatedAt, now);
  if (slots === undefined) return undefined;
  if (!schedule.enabled) return { slots, run: undefined, unrun: { status: 'skipped', reason: DISABLED, slots } };

  const missed = (some: Slots): UnrunSlots => ({
    status: 'missed',
    reason: some.last < startedAt ? 'the server was not running' : 'the server came too late',
    slots: some,
  });
  const isInTime = slots.last >= startedAt && now - slots.last <= LOOK_MS;
  const catchesUp = rules.missed === 'once' && now - slots.last <= rules.maxDelayMs;
  if (!isInTime && !catchesUp) return { slots, run: undefined, unrun: missed(slots) };

  const earlier = slots.count === 1 ? undefined : slotsBetween(expression, timeZone, evaluatedAt, slots.last - 1);
  return { slots, run: slots.last, unrun: earlier === undefined ? undefined : missed(earlier) };
}

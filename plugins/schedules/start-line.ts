/** Starts one run; calls `begun` when it runs, and resolves when the next one of the same schedule may start. Never rejects. */
export type Start = (begun: () => void) => Promise<void>;

/** How many runs may be on their way to the engine, or wait there for a place. */
const MAX_STARTING = 32;

/**
 * Where claimed runs wait to be started: a few at a time, and one at a time of each schedule, in their order. What waits here is on disk
 * already and takes hardly any memory, whereas the engine keeps a lot for each run that waits there.
 */
export class StartLine {
  /** For each schedule with a run: that one, and behind it what waits. */
  readonly #lanes = new Map<string, Start[]>();
  /** Schedules whose first run has not been started. */
  readonly #heads = new Set<string>();
  #starting = 0;
  #isClosed = false;

  /** Whether a run of the schedule waits or goes on. */
  has(scheduleId: string): boolean {
    return this.#lanes.has(scheduleId);
  }

  /** How many wait behind the first run of a schedule. */
  waiting(scheduleId: string): number {
    return Math.max(0, (this.#lanes.get(scheduleId)?.length ?? 0) - 1);
  }

  enter(scheduleId: string, start: Start): void {
    if (this.#isClosed) return;
    const lane = this.#lanes.get(scheduleId);
    if (lane !== undefined) return void lane.push(start);
    this.#lanes.set(scheduleId, [start]);
    this.#heads.add(scheduleId);
    this.#admit();
  }

  /** Starts nothing more; what waits is taken up by the next process. */
  close(): void {
    this.#isClosed = true;
    this.#heads.clear();
    this.#lanes.clear();
  }

  #admit(): void {
    for (const scheduleId of this.#heads) {
      if (this.#starting >= MAX_STARTING) return;
      this.#heads.delete(scheduleId);
      void this.#lead(scheduleId);
    }
  }

  async #lead(scheduleId: string): Promise<void> {
    let isStarting = true;
    this.#starting += 1;
    const begun = (): void => {
      if (!isStarting) return;
      isStarting = false;
      this.#starting -= 1;
      this.#admit();
    };
    await this.#lanes.get(scheduleId)?.[0]?.(begun);
    begun();
    this.#leave(scheduleId);
    this.#admit();
  }

  #leave(scheduleId: string): void {
    const lane = this.#lanes.get(scheduleId);
    lane?.shift();
    if (lane === undefined || lane.length === 0) this.#lanes.delete(scheduleId);
    else this.#heads.add(scheduleId);
  }
}

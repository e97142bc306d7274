/** Brings the roster in line with what is on disk. Events are hints; what a file says decides. */
import { messageOf } from '../../kernel/index.ts';
import { agentError } from './agent-error.ts';
import { isAgentName } from './agent-name.ts';
import type { AgentDefinition } from './derive.ts';
import { DiskLook, type DiskLookParts, type Finding } from './disk-look.ts';
import type { Serial } from './serial.ts';

/** A bad or missing file is looked at again after this long before anybody is told: editors empty, move and rewrite files. */
const SETTLE_MS = 100;
const BATCH = 64;

/** What a follower works with. */
export interface DiskFollowerParts extends DiskLookParts {
  readonly serial: Serial;
  /** Aborts when nothing may be registered any more. */
  readonly signal: AbortSignal;
}

/** How much a look decides: `soft` takes over good news only, `firm` also bad news that an earlier look saw already, `final` everything. */
type Firmness = 'soft' | 'firm' | 'final';
type Queue = Map<string, Firmness>;
type Good = Finding & { readonly kind: 'good' };
type Bad = Finding & { readonly kind: 'bad' };

/** Follows the directory, on the serial path. */
export class DiskFollower {
  readonly #parts: DiskFollowerParts;
  readonly #look: DiskLook;
  /** Bad news that was seen once: what the file was like. */
  readonly #suspects = new Map<string, string>();
  readonly #urgent: Queue = new Map();
  /** Found by comparison; there may be thousands, and a hint must not wait for them. */
  readonly #backlog: Queue = new Map();
  readonly #timers = new Map<string, () => void>();
  #draining = false;

  constructor(parts: DiskFollowerParts) {
    this.#parts = parts;
    this.#look = new DiskLook(parts);
  }

  /** Something may have changed about this agent. */
  hint(name: string): void {
    if (this.#parts.signal.aborted || !isAgentName(name)) return;
    this.#enqueue(name, 'soft', this.#urgent);
    this.#lookAgainLater(name);
  }

  /** Looks at one agent now; to be called on the serial path. Bad news waits for its second look. */
  async refresh(name: string): Promise<void> {
    if (isAgentName(name)) await this.#process(new Map([[name, 'soft']]));
  }

  /** Looks at everything and takes over all that has changed. Resolves when that is live. Rejects when the directory cannot be read. */
  async settle(): Promise<void> {
    const names = await this.#look.changedNames();
    await this.#parts.serial.run(() => this.#process(new Map(names.map((name) => [name, 'final']))));
  }

  /** Looks at everything; what has changed is taken over soon. Never rejects. */
  async reconcile(): Promise<void> {
    try {
      for (const name of await this.#look.changedNames()) this.#enqueue(name, 'soft', this.#backlog);
    } catch (error) {
      this.#parts.log.warn('the agents directory cannot be listed', { error: messageOf(error) });
    }
  }

  /** Has these agents judged anew although their files are the same. */
  reconsider(names: readonly string[]): void {
    for (const name of names) {
      this.#look.forget(name);
      this.hint(name);
    }
  }

  /** Drops what is left to do; resolves when nothing is under way. */
  async close(): Promise<void> {
    this.#urgent.clear();
    this.#backlog.clear();
    for (const cancel of this.#timers.values()) cancel();
    this.#timers.clear();
    await this.#parts.serial.idle();
  }

  #enqueue(name: string, firmness: Firmness, queue: Queue): void {
    if (this.#parts.signal.aborted) return;
    if (firmness !== 'soft' || !queue.has(name)) queue.set(name, firmness);
    if (!this.#draining) void this.#drain();
  }

  async #drain(): Promise<void> {
    this.#draining = true;
    while (this.#urgent.size + this.#backlog.size > 0) {
      const work = this.#parts.serial.run(() => this.#process(batchOf(this.#urgent.size > 0 ? this.#urgent : this.#backlog)));
      await work.catch((error: unknown) => this.#parts.log.error('a look at the agents failed', { error: messageOf(error) }));
    }
    this.#draining = false;
  }

  #lookAgainLater(name: string): void {
    this.#timers.get(name)?.();
    const cancel = this.#parts.clock.after(SETTLE_MS, () => {
      this.#timers.delete(name);
      this.#enqueue(name, 'firm', this.#urgent);
    });
    this.#timers.set(name, cancel);
  }

  async #process(names: ReadonlyMap<string, Firmness>): Promise<void> {
    if (this.#parts.signal.aborted) return;
    const findings = await this.#look.at([...names.keys()]);
    await this.#accept(findings.filter((finding) => finding.kind === 'good'));
    for (const finding of findings) {
      if (finding.kind === 'same') this.#parts.roster.confirm(finding.name);
      if (finding.kind === 'same' || finding.kind === 'good') this.#suspects.delete(finding.name);
      if (finding.kind === 'bad') await this.#judge(finding, names.get(finding.name) ?? 'soft');
    }
  }

  async #accept(good: readonly Good[]): Promise<void> {
    const { roster, clock, log } = this.#parts;
    try {
      await roster.accept(
        good.map(({ agent }) => agent),
        clock.now(),
      );
      for (const { name, agent } of good) log.info('agent loaded', { agent: name, version: agent.definition.profile.version });
    } catch (error) {
      log.error('new versions of agents cannot be recorded', { agents: good.map(({ name }) => name), error: messageOf(error) });
      for (const { name } of good) {
        this.#look.forget(name);
        roster.reject(name, agentError(name, `this version cannot be recorded, so it is not live: ${messageOf(error)}`));
      }
    }
  }

  async #judge({ name, error, mark }: Bad, firmness: Firmness): Promise<void> {
    const isKnown = this.#suspects.get(name) === mark;
    if (firmness !== 'final' && !(firmness === 'firm' && isKnown)) {
      if (!isKnown) this.#lookAgainLater(name);
      this.#suspects.set(name, mark);
      this.#look.forget(name);
      return;
    }
    this.#suspects.delete(name);
    if (error === null) return this.#dismiss(name);
    const { roster, log } = this.#parts;
    const earlier = await this.#earlierVersion(name);
    if (earlier === undefined) roster.reject(name, error);
    else roster.restore(earlier, error);
    const { file, line, column, message: reason } = error;
    log.warn('agent file is invalid', { agent: name, live: roster.entry(name)?.live !== undefined, file, line, column, reason });
  }

  /** After a restart the last good version of a file that is invalid now is in the table only. */
  async #earlierVersion(name: string): Promise<AgentDefinition | undefined> {
    const { roster, deriver } = this.#parts;
    const version = roster.keptVersion(name);
    return version === undefined || roster.entry(name)?.live !== undefined ? undefined : deriver.stored(name, version);
  }

  async #dismiss(name: string): Promise<void> {
    const { roster, log } = this.#parts;
    await roster.hide(name);
    log.info('agent gone from disk', { agent: name });
    await roster.retire([name]).catch((error: unknown) => {
      log.error('the version of an agent that is gone cannot be retired', { agent: name, error: messageOf(error) });
    });
  }
}

/** Takes the first names out of a queue. */
function batchOf(queue: Queue): ReadonlyMap<string, Firmness> {
  const batch = new Map([...queue.entries()].slice(0, BATCH));
  for (const name of batch.keys()) queue.delete(name);
  return batch;
}

/** Carries log lines to whoever registered as a sink. */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Clock, LogFields, LogLine, LogSink, Logger } from './contract/index.ts';

/** Lines kept while there is no sink; older ones give way. */
const MAX_KEPT_LINES = 1_000;

/** Writes a line where an operator can see it when no sink can take it. */
export type LastResort = (line: LogLine) => unknown;

/** Never throws at those who log. Lines without a sink are kept for the next one. */
export class LogHub {
  readonly #clock: Clock;
  readonly #lastResort: LastResort;
  readonly #trace = new AsyncLocalStorage<string>();
  readonly #broken = new WeakSet<LogSink>();
  #sinks: readonly LogSink[] = [];
  #kept: LogLine[] = [];
  #hadSink = false;
  #isClosed = false;

  constructor(clock: Clock, lastResort: LastResort = toStderr) {
    this.#clock = clock;
    this.#lastResort = lastResort;
  }

  /** Lines written inside `fn`, and in what it starts, carry the trace id. */
  withTrace<T>(traceId: string, fn: () => T): T {
    return this.#trace.run(traceId, fn);
  }

  /** A logger whose lines carry the plugin's name. */
  logger(plugin: string): Logger {
    const write =
      (level: LogLine['level']) =>
      (message: string, fields: LogFields = {}): void => {
        const traceId = this.#trace.getStore();
        this.#write({ at: this.#clock.now(), level, plugin, message, ...(traceId !== undefined && { traceId }), fields });
      };
    return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
  }

  /** From now on lines go to these; the first of them gets the kept ones. */
  useSinks(sinks: readonly LogSink[]): void {
    this.#sinks = sinks;
    const [first] = sinks;
    if (!first) return;
    this.#hadSink = true;
    for (const line of this.#kept.splice(0)) this.#deliver(first, line);
  }

  /** Gives the lines that no sink came for, and those still to come, to the last resort; after a sink has left only what is serious. Trace ids end. */
  close(): void {
    this.#isClosed = true;
    this.#trace.disable();
    for (const line of this.#kept.splice(0)) this.#keep(line);
  }

  #write(line: LogLine): void {
    for (const sink of this.#sinks) this.#deliver(sink, line);
    if (this.#sinks.length === 0) this.#keep(line);
  }

  #keep(line: LogLine): void {
    if (!this.#isClosed) {
      this.#kept.push(line);
      if (this.#kept.length > MAX_KEPT_LINES) this.#kept.shift();
      return;
    }
    if (!this.#hadSink || line.level === 'warn' || line.level === 'error') this.#lastResort(line);
  }

  #deliver(sink: LogSink, line: LogLine): void {
    try {
      sink.write(line);
    } catch (error) {
      this.#lastResort(line);
      if (this.#broken.has(sink)) return;
      this.#broken.add(sink);
      this.#lastResort({ ...line, level: 'error', plugin: 'kernel', message: 'a log sink failed', fields: { sink: sink.name, error } });
    }
  }
}

/** Prints a line of JSON on standard error. */
export function toStderr(line: LogLine): void {
  process.stderr.write(`${printed(line)}\n`);
}

/** One line of JSON; what JSON cannot hold becomes text. */
function printed(line: LogLine): string {
  const readable = (_key: string, value: unknown): unknown => {
    if (value instanceof Error) return { message: value.message, stack: value.stack, cause: value.cause };
    return typeof value === 'bigint' ? String(value) : value;
  };
  try {
    return JSON.stringify(line, readable);
  } catch {
    return JSON.stringify({ ...line, fields: 'could not be printed' });
  }
}

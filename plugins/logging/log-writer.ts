import { once } from 'node:events';
import { Writable } from 'node:stream';
import winston from 'winston';
import type { LogLine } from '../../kernel/index.ts';
import { jsonLine, readableLine } from './log-text.ts';

/** Lines beyond this are dropped, so that a disk that hangs cannot fill the memory. */
const MAX_QUEUED_BYTES = 16 * 1024 * 1024;

type Level = LogLine['level'];

/** What is written, and where to. */
export interface LogWriterOptions {
  /** Lines below it are skipped. */
  readonly level: Level;
  readonly mask: (text: string) => string;
  readonly console: { readonly stream: NodeJS.WritableStream; readonly format: 'json' | 'readable' } | undefined;
  /** Gets JSON lines; ended by `close`. */
  readonly file: Writable | undefined;
}

/** Where log lines go. */
export interface LogWriter {
  write(line: LogLine): void;
  /** Resolves when everything is written. */
  close(): Promise<void>;
}

/** Sends each line to the console and the file, each in its own format. Nothing here throws at those who log. */
export function logWriter(options: LogWriterOptions): LogWriter {
  const { file, level, mask } = options;
  const texts = { json: jsonLine, readable: readableLine };
  const format = (kind: 'json' | 'readable'): winston.Logform.Format =>
    winston.format.printf(({ line }) => texts[kind](line as LogLine, mask));
  const transports = [
    ...(options.console
      ? [new winston.transports.Stream({ stream: apart(options.console.stream), format: format(options.console.format) })]
      : []),
    ...(file ? [new winston.transports.Stream({ stream: file, format: format('json') })] : []),
  ];
  // Without a format of its own the logger would turn each line into JSON before the transports do.
  const asItIs = winston.format((info) => info)();
  const logger = winston.createLogger({
    levels: winston.config.npm.levels,
    level,
    format: asItIs,
    transports,
    silent: transports.length === 0,
  });
  const levels = winston.config.npm.levels;
  let dropped = 0;

  return {
    write(line) {
      if ((levels[line.level] ?? 0) > (levels[level] ?? 0)) return;
      if (file !== undefined && file.writableLength > MAX_QUEUED_BYTES) {
        dropped += 1;
        return;
      }
      if (dropped > 0) {
        const lost: LogLine = {
          at: line.at,
          level: 'warn',
          plugin: 'logging',
          message: 'Log lines were dropped',
          fields: { lines: dropped },
        };
        dropped = 0;
        logger.write({ level: lost.level, message: '', line: lost });
      }
      logger.write({ level: line.level, message: '', line });
    },
    async close() {
      logger.end();
      await once(logger, 'finish');
      if (file !== undefined) await new Promise<void>((resolve) => file.end(resolve));
    },
  };
}

/** winston changes the stream that it gets, and ours is the process's own. A console that is gone takes nothing more, and that is all. */
function apart(stream: NodeJS.WritableStream): Writable {
  return new Writable({
    decodeStrings: false,
    write(text: string, _encoding, done) {
      stream.write(text);
      done();
    },
  });
}

import { type Logger, definePlugin } from '../../kernel/index.ts';
import '../secrets/contract.ts';
import '../workspace/contract.ts';
import { logWriter } from './log-writer.ts';
import { rotatingFile } from './rotating-file.ts';

/** Writes log lines to the standard error stream and to a file that is rotated, without secrets and control characters. */
export default definePlugin({
  name: 'logging',
  requires: ['workspace', 'secrets'],
  configAt: {
    level: 'logging.level',
    format: 'logging.format',
    file: 'logging.file',
    maxBytes: 'logging.max-bytes',
    maxFiles: 'logging.max-files',
  },
  config: {
    type: 'object',
    properties: {
      level: { enum: ['debug', 'info', 'warn', 'error'], default: 'info' },
      format: { enum: ['auto', 'json', 'readable', 'off'], default: 'auto' },
      file: { type: 'boolean', default: true },
      maxBytes: { type: 'integer', minimum: 1_024, default: 10_485_760 },
      maxFiles: { type: 'integer', minimum: 1, maximum: 1_000, default: 5 },
    },
    additionalProperties: false,
  } as const,
  setup(ctx) {
    const { level, format, file, maxBytes, maxFiles } = ctx.config;
    const { secrets, workspace } = ctx.services;
    const auto = process.stderr.isTTY ? 'readable' : 'json';
    const writer = logWriter({
      level,
      mask: (text) => secrets.mask(text),
      console: format === 'off' ? undefined : { stream: process.stderr, format: format === 'auto' ? auto : format },
      file: file
        ? rotatingFile({ file: workspace.path('logs', 'oryxos.log'), maxBytes, maxFiles, onHealth: fileHealth(ctx.log) })
        : undefined,
    });
    // A terminal that was closed makes the stream emit an error, which would end the process.
    const ignore = (): void => undefined;
    process.stderr.on('error', ignore);
    ctx.own('standard error stream', () => void process.stderr.off('error', ignore));
    ctx.own('log writer', () => writer.close());
    ctx.register('logSink', { name: 'winston', write: (line) => writer.write(line) });
  },
});

/** Reports when the file begins and ceases to fail, not each line that is lost. */
function fileHealth(log: Logger): (error: Error | undefined) => void {
  let failing = false;
  return (error) => {
    if (error !== undefined && !failing) log.error('The log file cannot be written; lines are lost until it can', { error });
    if (error === undefined && failing) log.info('The log file can be written again');
    failing = error !== undefined;
  };
}

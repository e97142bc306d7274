/** A log sink that keeps what it gets, so that tests can look at it and the terminal stays clean. */
import { definePlugin, type LogLine, type Plugin } from '../../../kernel/index.ts';

export interface RecordedLog {
  readonly plugin: Plugin;
  readonly lines: readonly LogLine[];
}

/** Load `plugin` first; `lines` grows from then on. */
export function recordedLog(): RecordedLog {
  const lines: LogLine[] = [];
  const plugin = definePlugin({
    name: 'recorded-log',
    setup(ctx) {
      ctx.register('logSink', { name: 'recorded', write: (line) => void lines.push(line) });
    },
  });
  return { plugin, lines };
}

/** Two tools for crash tests: one whose effect must not happen twice, one that may run again. */
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { definePlugin, defineTool, ok, type Plugin } from '../../kernel/index.ts';

/** @param home  where `lines.txt` grows by one line with every run of `append_line` */
export function linesPlugin(home: string): Plugin {
  const text = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'], additionalProperties: false } as const;
  return definePlugin({
    name: 'lines',
    setup(ctx) {
      ctx.register(
        'tool',
        defineTool({
          name: 'append_line',
          description: 'Append a line.',
          input: text,
          async execute({ text }) {
            appendFileSync(join(home, 'lines.txt'), `${text}\n`);
            return ok(`appended ${text}`);
          },
        }),
      );
      ctx.register(
        'tool',
        defineTool({ name: 'peek', description: 'Look.', readOnly: true, input: text, execute: async ({ text }) => ok(`saw ${text}`) }),
      );
    },
  });
}

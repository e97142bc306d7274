/** `oryxos config …` */
import { notFound } from '../../kernel/index.ts';
import { defineCommand } from './args.ts';
import { textCheck } from './checks.ts';
import { jsonOption } from './list-command.ts';
import { settingsOf } from './settings.ts';

const show = defineCommand({
  name: 'config show',
  summary: 'Show the settings in effect and where each comes from; secrets are masked',
  words: { key: { help: 'a key or the beginning of keys, e.g. "server"; default: all', optional: true, check: textCheck } },
  options: jsonOption,
  examples: ['oryxos config show', 'oryxos config show server.port --json'],
  async run({ key, ...args }, cli) {
    const all = await settingsOf(args, cli);
    const wanted = key?.replaceAll('_', '-');
    const settings = wanted === undefined ? all : all.filter((setting) => setting.key === wanted || setting.key.startsWith(`${wanted}.`));
    if (settings.length === 0 && key !== undefined) throw notFound(`There is no setting "${key}". "oryxos config show" lists all.`);
    if (args.json) return cli.out.json(settings);
    cli.out.table(settings, {
      KEY: (row) => row.key,
      VALUE: (row) => (typeof row.value === 'string' ? row.value : JSON.stringify(row.value)),
      ORIGIN: (row) => row.origin,
    });
  },
});

/** The commands of the group. */
export const configCommands = [show];

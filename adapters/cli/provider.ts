/** `oryxos provider …` */
import { defineCommand } from './args.ts';
import { nameCheck, textCheck } from './checks.ts';
import { withConnection } from './connection.ts';
import { listCommand } from './list-command.ts';
import { pathOf } from './rest-client.ts';
import { secretInput } from './secret-input.ts';
import { lineText } from './text.ts';
import { UsageError } from './usage-error.ts';
import type { ProviderView } from './views.ts';

const list = listCommand<ProviderView>({
  name: 'provider list',
  summary: 'List model providers',
  path: () => '/api/v1/providers',
  columns: { NAME: (row) => row.name, KEY: (row) => row.apiKey, URL: (row) => row.baseUrl, DESCRIPTION: (row) => row.description },
  none: 'No providers.',
});

const add = defineCommand({
  name: 'provider add',
  summary: 'Add an OpenAI-compatible model provider',
  words: { name: { help: 'a name of your choice, used in AGENT.md', check: nameCheck } },
  options: {
    'base-url': { kind: 'text', value: 'URL', help: 'e.g. https://api.deepseek.com', check: textCheck },
    'key-stdin': { kind: 'flag', help: 'read the API key from standard input' },
    'key-env': { kind: 'text', value: 'VARIABLE', help: 'read the API key from an environment variable', check: textCheck },
    description: { kind: 'text', value: 'TEXT', help: 'what it is for' },
  },
  examples: [
    'oryxos provider add deepseek --base-url https://api.deepseek.com',
    'oryxos provider add deepseek --base-url https://api.deepseek.com --key-env DEEPSEEK_API_KEY',
    'oryxos provider add local --base-url http://127.0.0.1:11434 --key-stdin < /dev/null',
  ],
  async run(args, cli) {
    const baseUrl = args['base-url'];
    if (baseUrl === undefined) throw new UsageError('Missing --base-url URL.', 'provider add');
    if (args['key-stdin'] && args['key-env'] !== undefined) throw new UsageError('Use one of --key-stdin and --key-env.', 'provider add');
    const source = { stdin: args['key-stdin'], variable: args['key-env'], question: 'API key (not shown; empty for none): ' };
    const apiKey = await secretInput(source, cli.host);
    const body = {
      name: args.name,
      baseUrl,
      ...(apiKey === '' ? {} : { apiKey }),
      ...(args.description === undefined ? {} : { description: args.description }),
    };
    await withConnection(args, cli, async ({ client }) => {
      const added = await client.post<ProviderView>('/api/v1/providers', body);
      cli.out.line(
        `Added ${lineText(added.name)} at ${lineText(added.baseUrl ?? '')}, ${added.apiKey === null ? 'without a key' : 'with a key'}.`,
      );
      cli.out.line(`Next: oryxos provider test ${lineText(added.name)}`);
    });
  },
});

const test = defineCommand({
  name: 'provider test',
  summary: 'Ask a provider for its models',
  words: { name: { help: 'a provider of "oryxos provider list"', check: nameCheck } },
  run: (args, cli) =>
    withConnection(args, cli, async ({ client }) => {
      const path = pathOf`/api/v1/providers/${args.name}/test`;
      const { modelCount, sampleModels } = await client.post<{ modelCount: number; sampleModels: readonly string[] }>(path);
      const sample = lineText(sampleModels.join(', '));
      cli.out.line(`${args.name} answers. Models: ${sample}${modelCount > sampleModels.length ? `, … (${modelCount} in all)` : ''}`);
    }),
});

/** Keys are read from standard input, the environment or a hidden prompt, never from the command line. */
export const providerCommands = [list, add, test];

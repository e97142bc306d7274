/** The measured server: everything that `oryxos serve` starts, and one tool more. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { boot } from '../../config/boot.ts';
import { defineTool, definePlugin, ok } from '../../kernel/index.ts';
import { answerParent } from './child.ts';

const echo = definePlugin({
  name: 'bench',
  setup(ctx) {
    const input = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'], additionalProperties: false } as const;
    ctx.register(
      'tool',
      defineTool({ name: 'echo', description: 'Say it again.', readOnly: true, input, execute: async ({ text }) => ok(text) }),
    );
  },
});

const { home, modelUrl, agents } = JSON.parse(process.argv[2] ?? '{}') as { home: string; modelUrl: string; agents: number };
const root = join(home, 'workspace');
for (let index = 0; index < agents; index += 1) {
  const name = index === 0 ? 'bench' : `bench${index}`;
  mkdirSync(join(root, 'agents', name), { recursive: true });
  writeFileSync(
    join(root, 'agents', name, 'AGENT.md'),
    `---\nname: ${name}\nprovider:\n  name: bench\n  model: bench\ntools: [echo]\n---\n\nYou are measured.\n`,
  );
}
const host = await boot({
  mode: 'serve',
  root,
  cwd: home,
  env: {},
  flags: { 'server.port': 0, 'logging.format': 'off', 'oryxos.max-runs': 64, 'oryxos.providers': [{ name: 'bench', baseUrl: modelUrl }] },
  plugins: [echo],
});
answerParent({
  url: host.url,
  async rows() {
    const store = host.kernel.service('store');
    const tables = await store.all<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'");
    const counts = await Promise.all(
      tables.map(async ({ name }) => {
        const row = await store.get<{ count: number }>(`SELECT count(*) AS count FROM "${name}"`);
        return [name, row?.count ?? 0] as const;
      }),
    );
    return Object.fromEntries(counts);
  },
  close: () => host.close(),
});

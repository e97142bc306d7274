/** The files of a new plugin: a tool with a setting, and a test of it. */

/** Name of the tool in a new plugin: the package's name without scope and prefix, in letters that models take. */
export function toolNameOf(name: string): string {
  const word = name.replace(/^@[^/]*\//, '').replace(/^oryxos-plugin-/, '');
  return word.replaceAll(/[^a-z0-9]+/g, '_').replaceAll(/^_+|_+$/g, '') || 'hello';
}

/** What names the plugin in a configuration file that has nothing else. It sets nothing, so that an edit of a default in the code is seen. */
export function sectionFor(name: string): string {
  return `oryxos:\n  plugins:\n    ${JSON.stringify(name)}: {}\n`;
}

/** Texts by path in the package. `hostVersion` is the version of OryxOS that it is made for. */
export function pluginFiles(name: string, hostVersion: string): Readonly<Record<string, string>> {
  return {
    'package.json': manifest(name, hostVersion),
    'index.js': code(name),
    'test/plugin.test.js': test(name),
    'README.md': readme(name),
  };
}

function manifest(name: string, hostVersion: string): string {
  const content = {
    name,
    version: '1.0.0',
    description: 'A plugin for OryxOS',
    type: 'module',
    keywords: ['oryxos-plugin'],
    oryxos: { plugin: './index.js' },
    exports: './index.js',
    files: ['index.js'],
    scripts: { test: 'node --test' },
    peerDependencies: { oryxos: `^${hostVersion}` },
    peerDependenciesMeta: { oryxos: { optional: true } },
  };
  return `${JSON.stringify(content, null, 2)}\n`;
}

function code(name: string): string {
  const imports = "import { definePlugin, defineTool, ok } from 'oryxos';";
  return `// @ts-check
${imports}

export default definePlugin({
  name: ${quoted(name)},

  // The settings and their defaults. The schema checks what stands under "config" in application.yml, and types ctx.config.
  config: {
    type: 'object',
    properties: { greeting: { type: 'string', default: 'Hello' } },
    additionalProperties: false,
  },

  // Runs when the plugin is loaded, and again after every change. What is registered here leaves by itself; what you open yourself,
  // a timer or a socket, needs ctx.own('its name', () => close it).
  setup(ctx) {
    ctx.register(
      'tool',
      defineTool({
        name: ${quoted(toolNameOf(name))},
        description: 'Greet somebody by name. Returns one sentence.',
        readOnly: true,
        input: {
          type: 'object',
          properties: { who: { type: 'string', description: 'Whom to greet.' } },
          required: ['who'],
          additionalProperties: false,
        },
        // A tool that touches files, programs or the network says so here, and the sandbox decides:
        // claims: ({ path }) => [{ kind: 'file', value: path, access: 'read' }],
        async execute({ who }) {
          return ok(\`\${ctx.config.greeting}, \${who}.\`);
        },
      }),
    );
  },
});
`;
}

function test(name: string): string {
  const tool = toolNameOf(name);
  const imports = [
    "import assert from 'node:assert/strict';",
    "import { test } from 'node:test';",
    "import { agentFile, startHost } from 'oryxos/testing';",
    "import plugin from '../index.js';",
  ];
  return `// @ts-check
${imports.join('\n')}

test('an agent greets somebody', async () => {
  // A whole host in a temporary workspace, with a model that says what the test tells it to.
  const host = await startHost({ plugins: [plugin], agents: { greeter: agentFile('greeter', 'tools: [${tool}]') } });
  try {
    host.model.willCall('${tool}', { who: 'Ada' });
    host.model.willSay('done');
    await host.say('greeter', 'greet Ada');
    assert.equal(host.model.requests.at(-1)?.messages.at(-1)?.content, 'Hello, Ada.');
  } finally {
    await host.stop();
  }
});
`;
}

function readme(name: string): string {
  return `# ${name}

A plugin for OryxOS. It gives agents the tool \`${toolNameOf(name)}\`.

- It is loaded when \`application.yml\` names it:

  \`\`\`yaml
${sectionFor(name).replaceAll(/^(?=.)/gm, '  ')}  \`\`\`

- A setting stands beside it, and is live too: \`${JSON.stringify(name)}: {config: {greeting: Welcome}}\`. What is not set has the default of \`index.js\`.
- Every save of \`index.js\` is live. If something is wrong, the version before goes on and \`oryxos plugin list\` says what it is.
- An agent may use the tool when its \`AGENT.md\` names it: \`tools: [${toolNameOf(name)}]\`. It needs a real model; the built-in \`mock\` calls no tools of plugins.
- What the tool answered stands in \`GET /api/v1/audit/trace/{traceId}\`.
- The tests need \`oryxos\` where Node finds it (\`npm install --no-save oryxos\`); then \`npm test\`.

Plugins run inside of the server with everything that it may do. The sandbox judges what tools claim, not what the code of a plugin does.
`;
}

const quoted = (text: string): string => `'${text}'`;

import { expect } from 'chai';
import { deriveAgent, type DeriveOptions } from '../../../plugins/agents/derive.ts';

const base: DeriveOptions = { name: 'ops', version: 'v1', environment: {}, knowsProvider: (name) => ['mock', 'deepseek'].includes(name) };
const file = (yaml: string, body = 'Do it.'): string => `---\nname: ops\nprovider: {name: mock, model: m}\n${yaml}\n---\n${body}\n`;

function agent(text: string, options: Partial<DeriveOptions> = {}) {
  const derived = deriveAgent(text, { ...base, ...options });
  if (!derived.ok) throw new Error(`${derived.error.line}:${derived.error.column} ${derived.error.message}`);
  return derived.agent;
}
function error(text: string, options: Partial<DeriveOptions> = {}) {
  const derived = deriveAgent(text, { ...base, ...options });
  if (derived.ok) throw new Error('expected an error');
  return derived.error;
}

describe('an AGENT.md', () => {
  it('becomes a profile, with the defaults filled in', () => {
    const { profile, schedules, warnings } = agent(file('description: helps'));
    expect(profile).to.deep.include({
      name: 'ops',
      description: 'helps',
      instructions: 'Do it.',
      provider: 'mock',
      model: 'm',
      version: 'v1',
    });
    expect(profile.tools).to.deep.equal([]);
    expect(profile).to.not.have.any.keys('temperature', 'toolSources');
    expect(profile.settings).to.deep.equal({ maxIterations: 10, maxHistoryTurns: 20, timeoutMs: 600_000, onFatalToolError: 'return' });
    expect([schedules, warnings]).to.deep.equal([[], []]);
  });

  it('says everything that a profile holds', () => {
    const { profile, fallback } = agent(
      [
        '---',
        'name: ops',
        'description: 42',
        'identity: {agent_name: Ops, prompt: You are Ops.}',
        'provider:',
        '  name: mock',
        '  model: m',
        '  temperature: 0.5',
        '  fallback: [{name: deepseek, model: d, temperature: 1}]',
        'tools: [read_file, "github:*", read_file, 7]',
        'mcp_servers: [github]',
        'channels: [cli, {name: feishu, channel: team}]',
        'bootstrap: [AGENTS.md, docs/STYLE.md]',
        'settings: {max_iterations: 100, max_history_turns: 200, timeout_seconds: 5, on_fatal_tool_error: feedback}',
        '---',
        '',
      ].join('\n'),
    );
    expect(profile).to.deep.include({
      description: '42',
      temperature: 0.5,
      tools: ['read_file', 'github:*', '7'],
      toolSources: ['github'],
    });
    expect(profile.settings).to.deep.equal({ maxIterations: 100, maxHistoryTurns: 200, timeoutMs: 5_000, onFatalToolError: 'feedback' });
    expect(fallback).to.deep.equal([{ text: 'deepseek', line: 9 }]);
    expect(Object.isFrozen(profile) && Object.isFrozen(profile.tools) && Object.isFrozen(profile.frontmatter)).to.equal(true);
  });

  it('may leave keys without a value: they count as missing', () => {
    const { profile } = agent(file('description:\ntools:\nmcp_servers:\nchannels:\nbootstrap:\nschedules:\nsettings:\nidentity:'));
    expect(profile.tools).to.deep.equal([]);
    expect(profile).to.not.have.property('toolSources');
  });

  it('takes mcp_servers that is an empty list for "none of them"', () => {
    expect(agent(file('mcp_servers: []')).profile.toolSources).to.deep.equal([]);
  });

  const schedule = (yaml: string): string => file(`schedules:\n  - ${yaml.split('\n').join('\n    ')}`);
  for (const [what, text, line, column, words] of [
    ['no name', '---\nprovider: {name: mock, model: m}\n---\n', 2, 1, 'name is missing'],
    ['a blank name', '---\nname: " "\n---\n', 2, 1, 'name must not be blank'],
    ['a name that is a number', '---\nname: 5\n---\n', 2, 1, 'put the value in quotes'],
    ['the name of another directory', '---\ntools: []\nname: other\n---\n', 3, 1, 'must equal the name of the directory, "ops"'],
    ['a name that is none', '---\nname: ../ops\n---\n', 2, 1, 'letters, digits'],
    ['no provider', '---\nname: ops\n---\n', 2, 1, 'provider is missing'],
    ['a provider that is a text', '---\nname: ops\nprovider: mock\n---\n', 3, 1, 'must be a map'],
    ['no provider name', '---\nname: ops\nprovider:\n  model: m\n---\n', 3, 1, 'provider.name is missing'],
    ['no model', '---\nname: ops\nprovider:\n  name: mock\n---\n', 3, 1, 'provider.model is missing'],
    ['a blank model', '---\nname: ops\nprovider:\n  name: mock\n  model: ""\n---\n', 5, 3, 'provider.model must not be blank'],
    ['an unknown provider', '---\nname: ops\nprovider:\n  name: nobody\n  model: m\n---\n', 4, 3, '"nobody" is not a known provider'],
    ['a temperature that is too high', '---\nname: ops\nprovider: {name: mock, model: m, temperature: 2.1}\n---\n', 3, 34, 'from 0 to 2'],
    ['a temperature that is a text', '---\nname: ops\nprovider: {name: mock, model: m, temperature: hot}\n---\n', 3, 34, 'from 0 to 2'],
    ['a fallback that is no list', '---\nname: ops\nprovider: {name: mock, model: m, fallback: x}\n---\n', 3, 34, 'must be a list'],
    [
      'a fallback without a model',
      '---\nname: ops\nprovider:\n  name: mock\n  model: m\n  fallback:\n    - name: deepseek\n---\n',
      7,
      7,
      'provider.fallback[1].model is missing',
    ],
    ['tools that are a text', file('tools: read_file'), 4, 1, 'tools must be a list'],
    ['a blank tool', file('tools:\n  - a\n  - " "'), 6, 5, 'item 2 is blank'],
    ['a tool that is a map', file('tools:\n  - a: 1'), 5, 5, 'item 1 must be text'],
    ['mcp_servers that are no list', file('mcp_servers: {a: 1}'), 4, 1, 'mcp_servers must be a list'],
    ['a channel without a name', file('channels:\n  - channel: x'), 5, 5, 'channels[1].name is missing'],
    ['an absolute bootstrap file', file('bootstrap: [/etc/passwd]'), 4, 1, 'inside the workspace'],
    ['a bootstrap file outside', file('bootstrap:\n  - A.md\n  - ../x'), 6, 1, 'inside the workspace'],
    ['a bootstrap file that is secret', file('bootstrap: [./Master.KEY]'), 4, 1, 'never shown'],
    ['the database as a bootstrap file', file('bootstrap: [oryxos.db-wal]'), 4, 1, 'never shown'],
    ['settings that are a list', file('settings: []'), 4, 1, 'settings must be a map'],
    ['no iterations', file('settings:\n  max_iterations: 0'), 5, 3, 'from 1 to 100'],
    ['too many iterations', file('settings: {max_iterations: 101}'), 4, 12, 'from 1 to 100'],
    ['half an iteration', file('settings: {max_iterations: 1.5}'), 4, 12, 'whole number'],
    ['iterations in quotes', file('settings: {max_iterations: "5"}'), 4, 12, 'must be a number'],
    ['no history', file('settings: {max_history_turns: 0}'), 4, 12, 'from 1 to 200'],
    ['an unknown way to fail', file('settings: {on_fatal_tool_error: ignore}'), 4, 12, 'return, feedback'],
    ['an identity that is a text', file('identity: You are Ops.'), 4, 1, 'identity must be a map'],
    ['a description that is a list', file('description: [a]'), 4, 1, 'description must be a single value'],
    ['schedules that are a map', file('schedules: {a: 1}'), 4, 1, 'schedules must be a list'],
    ['a schedule that is a text', file('schedules:\n  - daily'), 5, 5, 'schedules: item 1 must be a map'],
    ['a schedule without a key', schedule('name: n\ncron: "0 9 * * *"'), 5, 5, 'schedules[1].key is missing'],
    ['a blank schedule key', schedule('key: ""\nname: n\ncron: "0 9 * * *"'), 5, 5, 'schedules[1].key must not be blank'],
    ['a schedule key with a line break', schedule('key: "a\\nb"\nname: n\ncron: "0 9 * * *"'), 5, 5, 'on one line'],
    ['a key and another id', schedule('key: a\nid: b\nname: n\ncron: "0 9 * * *"'), 6, 5, 'differs from key'],
    ['a schedule without a name', schedule('key: a\ncron: "0 9 * * *"'), 5, 5, 'schedules[1].name is missing'],
    ['a schedule without a cron', schedule('key: a\nname: n'), 5, 5, 'schedules[1].cron is missing'],
    ['a wrong cron', schedule('key: a\nname: n\ncron: 99 0 9 * * *'), 7, 5, 'field "second"'],
    ['a wrong zone', schedule('key: a\nname: n\ncron: "0 9 * * *"\nzone: Mars/X'), 8, 5, '"Mars/X" is not a time zone'],
    [
      'a key that is there twice',
      file('schedules:\n  - {key: a, name: n, cron: "@daily"}\n  - {key: a, name: m, cron: "@daily"}'),
      6,
      6,
      'used twice, first on line 5',
    ],
    [
      'a key that is the id of another',
      file('schedules:\n  - {id: a, cron: "@daily"}\n  - {key: a, name: m, cron: "@daily"}'),
      6,
      6,
      'used twice',
    ],
    ['an unknown rule for missed slots', schedule('key: a\nname: n\ncron: "@daily"\nmissed: always'), 8, 5, 'once, skip'],
    ['a delay without a unit', schedule('key: a\nname: n\ncron: "@daily"\nmax_delay: "10"'), 8, 5, 'unit'],
    ['broken YAML', file('description: "x'), 4, 16, 'quote'],
  ] as const) {
    it(`with ${what} is refused, with line and column`, () => {
      const found = error(text);
      expect(`${found.line}:${found.column} ${found.message}`).to.include(words);
      expect({ line: found.line, column: found.column }).to.deep.equal({ line, column });
      expect(found.file).to.equal('agents/ops/AGENT.md');
    });
  }

  it('counts lines the same way in a file with CRLF', () => {
    const text = file('settings:\n  max_iterations: 0').replaceAll('\n', '\r\n');
    expect(error(text)).to.deep.include({ line: 5, column: 3 });
  });

  it('shows its schedules, older spellings too', () => {
    const { schedules } = agent(
      file(
        'schedules:\n  - {key: a, name: n, cron: "0 9 * * *", zone: " ", message: hi}\n  - {id: b, cron: "@daily", zone: Asia/Shanghai, missed: skip, max_delay: 2h, overlap: queue, timeout_seconds: 9, on_failure: ops}',
      ),
    );
    expect(schedules).to.deep.equal([
      { id: 'a', key: 'a', name: 'n', cron: '0 9 * * *', zone: null, message: 'hi' },
      { id: 'b', key: 'b', name: 'b', cron: '@daily', zone: 'Asia/Shanghai', message: null },
    ]);
  });

  it('warns of what has no effect, with the line', () => {
    const text = file(
      [
        'colour: red',
        'knowledge: [a]',
        'notify_channels: []',
        'skills: [x]',
        'identity: {nick: o}',
        'settings: {max_iteration: 3}',
        'schedules: [{key: a, name: n, cron: "@daily", retries: 2}]',
        '__proto__: {x: 1}',
      ].join('\n'),
    ).replace('model: m}', 'model: m, api_key: "x", top_k: 3}');
    const { warnings } = agent(text);
    for (const [line, words] of [
      [3, 'provider.top_k'],
      [3, 'provider.api_key has no effect'],
      [4, 'unknown key "colour"'],
      [5, '"knowledge" has no effect'],
      [6, '"notify_channels" has no effect'],
      [7, '"skills" has no effect'],
      [8, 'identity.nick'],
      [9, 'settings.max_iteration'],
      [10, 'schedules[1].retries'],
    ] as const) {
      expect(warnings.filter((warning) => warning.startsWith(`line ${line}: `)).join(), words).to.include(words);
    }
    expect(warnings).to.have.length(9);
  });

  it('may not list skills when it is saved', () => {
    expect(error(file('skills: [x]'), { saving: true })).to.deep.include({ line: 4, column: 1 });
    expect(agent(file('skills:'), { saving: true }).warnings).to.deep.equal([]);
  });

  it('is not asked for its provider when it was valid before', () => {
    const { knowsProvider: _, ...lenient } = base;
    expect(deriveAgent(file('').replace('name: mock', 'name: gone'), lenient).ok).to.equal(true);
  });

  it('has variables replaced under provider, for permitted names only', () => {
    const environment = { ORYXOS_MODEL: 'm1', HOME: '/root', MY_URL: 'mock' };
    const text = [
      '---',
      'name: ops',
      'description: ${ORYXOS_MODEL}',
      'provider:',
      '  name: ${MY_URL}',
      '  model: ${ORYXOS_MODEL}-${HOME}-${NO_KEY}',
      '---',
      '${ORYXOS_MODEL}',
    ].join('\n');
    const { profile, warnings } = agent(text, { environment });
    expect(profile).to.deep.include({
      description: '${ORYXOS_MODEL}',
      instructions: '${ORYXOS_MODEL}',
      provider: 'mock',
      model: 'm1-${HOME}-${NO_KEY}',
    });
    expect(profile.frontmatter['provider']).to.deep.include({ model: 'm1-${HOME}-${NO_KEY}' });
    expect(warnings).to.have.length(2);
    expect(warnings.join('\n')).to.match(/line 4: provider: \$\{HOME\}.*only names[^]*line 4: provider: \$\{NO_KEY\}.*not set/);
  });

  it('does not get a variable that a prototype would answer', () => {
    expect(agent(file('').replace('model: m', 'model: "${constructor}_${__proto___KEY}"')).profile.model).to.equal(
      '${constructor}_${__proto___KEY}',
    );
  });
});

/** What authors of plugins write: compiles, and every line marked with an error has that error. Compiled against the built package by types.test.ts. */
import { defineTool, definePlugin, fail, type FromSchema, ok, type Plugin, refuse } from 'oryxos';
import { defineRoute, eventStream, raw } from 'oryxos/http';
import {
  accessOf,
  type Command,
  type Files,
  FileProblem,
  type Http,
  HttpProblem,
  type Outside,
  ProcessProblem,
  urlClaim,
} from 'oryxos/outside';

/** Everything a plugin can do, with types from its own schemas. */
export const complete: Plugin = definePlugin({
  name: 'complete',
  version: '1.0.0',
  requires: ['store', 'http', 'kernel'],
  config: {
    type: 'object',
    properties: {
      greeting: { type: 'string', default: 'Hello' },
      times: { type: 'integer', minimum: 1 },
      tags: { type: 'array', items: { type: 'string' }, default: [] },
    },
    additionalProperties: false,
  },
  async setup(ctx) {
    ctx.config.greeting satisfies string;
    ctx.config.times satisfies number | undefined;
    ctx.config.tags satisfies readonly string[];
    // @ts-expect-error there is no such setting
    void ctx.config.gretting;
    // @ts-expect-error the configuration is frozen
    ctx.config.greeting = '';

    await ctx.services.store.write({ sql: 'DELETE FROM x WHERE id = ?', params: [1] });
    // @ts-expect-error a parameter of SQL is a text, a number, bytes or null
    await ctx.services.store.write({ sql: '', params: [true] });
    void ctx.services.http.address?.url;
    // @ts-expect-error `requires` does not name it
    void ctx.services.engine;

    ctx.tap('beforeToolCall', (call) => (call.tool.name === 'x' ? refuse(ctx.name, 'no') : undefined));
    ctx.tap('beforeToolCall', async () => undefined, { stage: -10 });
    ctx.tap(
      'afterToolCall',
      (rows, _call, result, durationMs) => (result.success && durationMs > 1 ? [...rows, { sql: '', params: [] }] : rows),
      {
        required: true,
      },
    );
    // @ts-expect-error a decision is a refusal or nothing
    ctx.tap('beforeToolCall', () => true);
    // @ts-expect-error a collector must return rows
    ctx.tap('afterToolCall', () => undefined);
    // @ts-expect-error there is no such hook
    ctx.tap('beforeLunch', () => undefined);

    const undo = ctx.own('timer', () => undefined);
    await undo();
    const timer = ctx.clock.after(1000, () => ctx.log.info('late', { at: ctx.clock.now() }));
    ctx.own('timer', timer);
    await using child = ctx.fork('child');
    child.own('thing', async () => undefined);
    ctx.forEach('profile', (profile, inner) => inner.log.debug('agent', { name: profile.name }));
    for (const tool of ctx.registry('tool').list()) void tool.inputSchema;
    // @ts-expect-error an item of the wrong shape
    ctx.register('tool', { name: 'x' });
    // @ts-expect-error there is no such extension point
    ctx.register('planet', { name: 'x' });
    // @ts-expect-error there is no such service
    ctx.provide('moon', {});
  },
});

// @ts-expect-error a plugin needs a setup
definePlugin({ name: 'x' });
// @ts-expect-error a plugin needs a name
definePlugin({ setup: () => undefined });
// @ts-expect-error there is no such service
definePlugin({ name: 'x', requires: ['moon'], setup: () => undefined });

const input = {
  type: 'object',
  properties: {
    path: { type: 'string' },
    mode: { enum: ['text', 'hex'] },
    lines: { type: 'integer' },
    deep: { type: 'boolean', default: false },
  },
  required: ['path', 'mode'],
  additionalProperties: false,
} as const;

/** A tool with everything. */
export const tool = defineTool({
  name: 'peek',
  description: () => 'Look into a file.',
  readOnly: true,
  idempotent: true,
  timeoutMs: 5_000,
  aliases: { file: 'path' },
  input,
  claims: ({ path }) => [{ kind: 'file', value: path, access: 'read' }],
  async execute(args, run) {
    args satisfies FromSchema<typeof input>;
    args.path satisfies string;
    args.mode satisfies 'text' | 'hex';
    args.lines satisfies number | undefined;
    args.deep satisfies boolean;
    // @ts-expect-error it may be missing
    args.lines satisfies number;
    // @ts-expect-error there is no such parameter
    void args.line;
    await run.claim({ kind: 'url', value: 'https://example.com' });
    if (run.signal.aborted) return fail('stopped', { retryable: false });
    return ok(`${run.key} ${run.turn.agent.name}`);
  },
});

defineTool({
  name: 'wrong',
  description: '',
  input: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
  // @ts-expect-error what it will touch is a list of claims
  claims: ({ path }) => path,
  // @ts-expect-error a tool returns a result, not a text
  execute: async () => 'done',
});

// @ts-expect-error a tool needs a schema of its input
defineTool({ name: 'x', description: '', execute: async () => ok('') });

/** A route with everything. */
export const route = defineRoute({
  name: 'PUT /api/v1/hello/{who}',
  summary: 'Say hello',
  kind: 'write',
  params: { type: 'object', properties: { who: { type: 'string' } }, required: ['who'] },
  query: { type: 'object', properties: { times: { type: 'integer', default: 1 } } },
  body: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'], additionalProperties: false },
  answer: { type: 'object' },
  streams: true,
  handle({ params, query, body, wantsStream, signal }) {
    params.who satisfies string;
    query.times satisfies number;
    body.text satisfies string;
    // @ts-expect-error there is no such field
    void body.txt;
    if (signal.aborted) return raw(204, {}, '');
    if (wantsStream) return eventStream(async (sink) => sink.send({ event: 'hello', data: params.who }));
    return { text: body.text.repeat(query.times) };
  },
});

// @ts-expect-error what a route does to the system is read, write or admin
defineRoute({ name: 'GET /x', summary: '', kind: 'maybe', handle: () => 1 });

/** A plugin that reaches the outside through the sandbox, and takes some of its settings while it runs. */
export const reaching = definePlugin({
  name: 'reaching',
  requires: ['outside'],
  config: { type: 'object', properties: { maxBytes: { type: 'integer', default: 1024 }, host: { type: 'string', default: '' } } },
  live: ['maxBytes'],
  setup(ctx) {
    const { outside } = ctx.services;
    outside satisfies Outside;
    outside.files satisfies Files;
    outside.http satisfies Http;
    ctx.onConfig(({ maxBytes }) => ctx.log.info('changed', { maxBytes }));
    // @ts-expect-error there is no such setting
    ctx.onConfig(({ bytes }) => void bytes);
    ctx.register(
      'tool',
      defineTool({
        name: 'reach',
        description: '',
        input: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
        claims: ({ path }) => [{ kind: 'file', value: path, access: 'read' }, urlClaim('https://example.com', accessOf('GET'))],
        async execute({ path }, run) {
          try {
            const bytes = await outside.files.read(path, run, { maxBytes: ctx.config.maxBytes });
            const command: Command = { executable: 'wc', arguments: ['-c', path] };
            const { end, stdout } = await outside.processes.run(command, run);
            const status = await outside.http.send({ method: 'GET', url: 'https://example.com' }, run, async (answer) => answer.status);
            // @ts-expect-error a call needs the run that it is part of
            await outside.files.stat(path);
            return ok(`${bytes.length} ${end.kind} ${stdout} ${status}`);
          } catch (error) {
            if (error instanceof FileProblem || error instanceof HttpProblem || error instanceof ProcessProblem) return fail(error.message);
            throw error;
          }
        },
      }),
    );
  },
});

// @ts-expect-error there is no such setting
definePlugin({ name: 'x', config: { type: 'object', properties: { a: { type: 'string' } } }, live: ['b'], setup: () => undefined });

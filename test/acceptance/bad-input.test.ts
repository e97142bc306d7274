/** Every operation of the API under every kind of bad request; the API document says what there is, so a route that comes later is held to it too. */
import { expect } from 'chai';
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { JsonSchema } from '../../kernel/index.ts';
import { exampleOf } from '../../plugins/openapi/example.ts';
import { type Answer, agentFile, startHost, type TestHost } from '../harness/index.ts';
import { documentOf, type Operation, operationsOf } from '../plugins/openapi/documented.ts';

/** What exists, by the beginning of the path and the name of its parameter. */
const KNOWN: Readonly<Record<string, string>> = {
  '/api/v1/agents {name}': 'helper',
  '/api/v1/providers {name}': 'scripted',
  '/api/v1/sessions {id}': 'web:ann:helper',
  '/api/v1/pricing {id}': '1',
  '/api/v1/schedules {key}': 'daily',
  '/api/v2/agents {profileName}': 'helper',
  '/api/v2/agents {key}': 'daily',
  '/api/v1/sandbox {category}': 'shell',
};
/** Has an answer for ids that nobody knows: the trace of no run is empty. */
const NEVER_UNKNOWN = ['GET /api/v1/audit/trace/{traceId}'];
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
const WRONG: readonly unknown[] = [5, true, 'odd', { odd: 1 }, [{ odd: 1 }]];

type Body = Readonly<Record<string, unknown>>;

describe('bad input', function () {
  this.timeout(60_000);
  let host: TestHost;
  let operations: readonly (readonly [string, Operation])[];
  let schedule: string;

  before(async () => {
    const schedules = 'schedules:\n  - {key: daily, name: Daily, cron: "0 0 9 * * *", zone: UTC, message: go}';
    host = await startHost({ agents: { helper: agentFile('helper', `tools: []\n${schedules}`), broken: 'no front matter' } });
    operations = [...operationsOf(await documentOf(host))];
    await host.request('POST', '/api/v1/sessions', { profile: 'helper', userId: 'ann' });
    await host.request('POST', '/api/v1/pricing', { provider: 'p', model: 'm', promptPrice: 1, completionPrice: 1 });
    schedule = ((await host.request('GET', '/api/v2/schedules')).data as { scheduleId: string }[])[0]?.scheduleId ?? '';
  });
  after(() => host.stop());

  /** What the server holds: every row of every table, and every file that is not its own. */
  async function state(): Promise<unknown> {
    const store = host.kernel.service('store');
    const tables = await store.all<{ name: string }>(
      `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name`,
    );
    const rows: Record<string, unknown> = {};
    for (const { name } of tables) rows[name] = await host.rows(name);
    const files: Record<string, string> = {};
    for (const entry of await readdir(host.root, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name);
      if (!entry.isFile() || /oryxos\.db|server\.json/.test(entry.name)) continue;
      files[path] = createHash('sha256')
        .update(await readFile(path))
        .digest('hex');
    }
    return { rows, files };
  }

  function known(path: string, parameter: string): string | undefined {
    if (parameter === 'scheduleId') return schedule;
    return KNOWN[`${/^\/api\/v\d+\/\w+/.exec(path)?.[0]} {${parameter}}`];
  }
  /** The path with its parameters filled in, and whether all of them are known. */
  function filled(path: string, value: (parameter: string) => string | undefined = (parameter) => known(path, parameter)) {
    let isKnown = true;
    const url = path.replaceAll(/\{(\w+)\}/g, (_, parameter: string) => {
      const text = value(parameter);
      isKnown &&= text !== undefined;
      return text === undefined ? 'nothing-here' : text.startsWith('%') ? text : encodeURIComponent(text);
    });
    return { url, isKnown };
  }
  const requiredQuery = ({ parameters = [] }: Operation): string => {
    const pairs = parameters
      .filter(({ in: place, required }) => place === 'query' && required)
      .map(({ name, schema }) => `${name}=${encodeURIComponent(String(exampleOf(schema, name)))}`);
    return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
  };
  const bodyOf = ({ requestBody }: Operation): { readonly required: boolean; readonly schema: JsonSchema } | undefined => {
    const schema = requestBody?.content['application/json']?.schema;
    return requestBody && schema && { required: requestBody.required, schema };
  };
  const exampleBody = (schema: JsonSchema): Body => exampleOf(schema) as Body;

  const wrong: string[] = [];
  /** Asks, and notes when the answer is not one of these statuses in the envelope. */
  async function ask(
    expected: readonly number[],
    method: string,
    url: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Answer> {
    const answer = await host.request(method, url, body, headers);
    const { status, code, data, message = '', text } = answer;
    const isEnvelope = code === status && data === null && message !== '' && text.includes('"timestamp"');
    const isSafe = !message.includes(host.root) && !/\n\s+at /.test(message);
    if (!expected.includes(status) || !isEnvelope || !isSafe) {
      const sent = body === undefined ? '' : (typeof body === 'string' ? body : JSON.stringify(body)).slice(0, 120);
      wrong.push(`${method} ${url} ${sent} → ${status}, not ${expected.join(' or ')}: ${text.slice(0, 160)}`);
    }
    return answer;
  }
  /** Does all of it, and holds that nothing was wrong and nothing has changed. */
  async function holds(work: () => Promise<void>): Promise<void> {
    wrong.length = 0;
    const before = await state();
    await work();
    expect(wrong).to.deep.equal([]);
    expect(await state()).to.deep.equal(before);
  }
  const split = (name: string): readonly [string, string] => name.split(' ') as [string, string];
  /** Operations that take a body, where they stand, and what a bad body may be answered with. */
  function* takingBodies() {
    for (const [name, operation] of operations) {
      const [method, path] = split(name);
      const body = bodyOf(operation);
      if (!body) continue;
      const { url, isKnown } = filled(path);
      yield { method, path, body, url, expected: isKnown ? [400] : [400, 404] };
    }
  }

  it('of a method that a path does not know is 405', () =>
    holds(async () => {
      const names = operations.map(([name]) => name);
      const shapes = (path: string): RegExp => new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`);
      for (const path of new Set(names.map((name) => split(name)[1]))) {
        const { url } = filled(path);
        for (const method of METHODS) {
          const isServed = names.some((name) => split(name)[0] === method && shapes(split(name)[1]).test(url));
          if (!isServed) await ask([405], method, url, method === 'GET' || method === 'DELETE' ? undefined : {});
        }
      }
    }));

  it('of percent-encoding that is none is 400', () =>
    holds(async () => {
      for (const [name, operation] of operations) {
        const [method, path] = split(name);
        if (!path.includes('{')) continue;
        const body = bodyOf(operation);
        for (const bad of ['%E0%A4%A', '%', '%zz', '%ff'])
          await ask([400], method, filled(path, () => bad).url + requiredQuery(operation), body && exampleBody(body.schema));
      }
    }));

  it('of ids that nobody has is 404, or 400 where no id can look like that', () =>
    holds(async () => {
      for (const [name, operation] of operations) {
        const [method, path] = split(name);
        if (!path.includes('{') || NEVER_UNKNOWN.includes(name)) continue;
        const body = bodyOf(operation);
        for (const id of ['nothing-here', '999999', '..', '../../etc/passwd', 'a\u0000b', 'x'.repeat(300), "' OR 1=1 --", 'ä:😀']) {
          const { url } = filled(path, () => encodeURIComponent(id).replaceAll('.', '%2E'));
          await ask([404, 400], method, url + requiredQuery(operation), body && exampleBody(body.schema));
        }
      }
    }));

  it('of bodies that are missing, malformed or no object is 400', () =>
    holds(async () => {
      for (const { method, body, url, expected } of takingBodies()) {
        for (const text of ['{', '{"a":}', '[]', '"text"', 'null', '5', '{"a":1}{', '\u0000', "{'a':1}"])
          await ask(expected, method, url, text);
        if (body.required) await ask(expected, method, url);
      }
    }));

  it('of bodies that are not JSON is 415, and of bodies that are too large is 413', () =>
    holds(async () => {
      for (const { method, path, body, url } of takingBodies()) {
        const text = JSON.stringify(exampleBody(body.schema));
        for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/octet-stream'])
          await ask([415], method, url, text, { 'content-type': type });
        const size = path.endsWith('/files') ? 10_500_000 : 1_100_000;
        await ask([413], method, url, `{"padding":"${'x'.repeat(size)}"}`);
      }
    }));

  it('of fields that are missing or of the wrong type is 400 and names the field', () =>
    holds(async () => {
      for (const { method, body, url, expected } of takingBodies()) {
        const good = exampleBody(body.schema);
        const named = async (field: string, bad: Body): Promise<void> => {
          const { status, message } = await ask(expected, method, url, bad);
          if (status === 400 && !message?.includes(field)) wrong.push(`${method} ${url}: "${message}" does not name ${field}`);
        };
        for (const field of (body.schema['required'] ?? []) as readonly string[]) {
          const { [field]: _, ...rest } = good;
          await named(field, rest);
        }
        for (const [field, schema] of Object.entries((body.schema['properties'] ?? {}) as Record<string, JsonSchema>)) {
          for (const value of WRONG.filter((one) => !fits(schema, one))) await named(field, { ...good, [field]: value });
        }
      }
    }));

  it('of texts that are too long is 400 and starts no run', () =>
    holds(async () => {
      for (const [name, operation] of operations) {
        const [method, path] = split(name);
        const body = bodyOf(operation);
        const properties = (body?.schema['properties'] ?? {}) as Record<string, JsonSchema>;
        if (!body) continue;
        for (const [field, { maxLength }] of Object.entries(properties)) {
          if (typeof maxLength !== 'number') continue;
          await ask([400], method, filled(path).url, { ...exampleBody(body.schema), [field]: 'x'.repeat(maxLength + 1) });
        }
      }
      expect(host.model.requests).to.deep.equal([]);
    }));

  it('of query parameters that are missing, doubled or no value of their kind is 400', () =>
    holds(async () => {
      for (const [name, operation] of operations) {
        const [method, path] = split(name);
        const { url, isKnown } = filled(path);
        const expected = isKnown ? [400] : [400, 404];
        for (const { name: parameter, in: place, required, schema } of operation.parameters ?? []) {
          if (place !== 'query') continue;
          const isText = schema['type'] === 'string' && schema['format'] === undefined;
          if (!isText) for (const bad of ['odd', '', '%ff']) await ask(expected, method, `${url}?${parameter}=${bad}`);
          await ask(expected, method, `${url}?${parameter}=1&${parameter}=2`);
          if (required) await ask(expected, method, url);
        }
      }
    }));

  it('is not what a field is that nobody knows: it is ignored', async () => {
    const more = { extra: { deep: [1] }, traceId: 'x', createdAt: null };
    const { status } = await host.request('POST', '/api/v1/sessions', { profile: 'helper', userId: 'extra', ...more });
    expect(status).to.equal(200);
    expect((await host.request('POST', '/api/v1/agents/helper/invoke', { content: 'hi', ...more })).status).to.equal(200);
    expect((await host.request('PUT', '/api/v1/agents/helper/basic', { description: 'd', ...more })).data).to.include({ description: 'd' });
    expect((await host.request('GET', '/api/v1/agents/helper?extra=1')).status).to.equal(200);
  });

  it('has walked over a whole API', () => {
    expect(operations.length).to.be.greaterThan(60);
    expect(operations.filter(([, operation]) => bodyOf(operation)).length).to.be.greaterThan(15);
  });
});

function fits(schema: JsonSchema, value: unknown): boolean {
  const variants = (schema['oneOf'] ?? schema['anyOf']) as readonly JsonSchema[] | undefined;
  if (variants) return variants.some((variant) => fits(variant, value));
  if (Array.isArray(schema['enum'])) return schema['enum'].includes(value);
  const type = Array.isArray(value) ? 'array' : typeof value;
  const types = [schema['type'] ?? type].flat() as readonly unknown[];
  if (!types.includes(type) && !(type === 'number' && types.includes('integer'))) return false;
  const items = schema['items'] as JsonSchema | undefined;
  return !(Array.isArray(value) && items && !value.every((item) => fits(items, item)));
}

import { Validator } from '@seriousme/openapi-schema-validator';
import { expect } from 'chai';
import { packageVersion } from '../../../config/package-root.ts';
import { compileSchema, definePlugin, invalidInput } from '../../../kernel/index.ts';
import { defineRoute, raw } from '../../../plugins/http/contract.ts';
import type { Route } from '../../../plugins/http/contract.ts';
import { startHost } from '../../harness/index.ts';
import type { TestHost } from '../../harness/index.ts';
import { contentOf, documentOf, operationsOf } from './documented.ts';

const PAGE = /^(text\/(html|css|javascript)|image\/)/;

describe('the API document', function () {
  this.timeout(20_000);
  let host: TestHost;
  before(async () => {
    host = await startHost();
  });
  after(() => host.stop());
  const routes = (): readonly Route[] => host.kernel.registry('route').list();
  const registered = async (...list: readonly Route[]): Promise<void> => {
    await host.kernel.load(definePlugin({ name: 'guest', setup: (ctx) => list.forEach((route) => void ctx.register('route', route)) }));
  };
  afterEach(async () => {
    if (host.kernel.status().some(({ name }) => name === 'guest')) await host.kernel.unload('guest');
  });

  it('is a valid OpenAPI 3.1 document of this version', async () => {
    const answer = await host.request('GET', '/v3/api-docs');
    expect(answer.headers['content-type']).to.equal('application/json; charset=utf-8');
    const document = JSON.parse(answer.text) as Record<string, unknown>;
    const validator = new Validator();
    expect(await validator.validate(document)).to.deep.equal({ valid: true });
    expect(validator.version).to.equal('3.1');
    expect(document['info']).to.include({ title: 'OryxOS', version: packageVersion });
  });

  it('holds every route but pages and their files', async () => {
    const operations = operationsOf(await documentOf(host));
    const isPage = ({ name, answer, produces }: Route): boolean =>
      produces === undefined ? answer === undefined && !name.includes(' /api/') : PAGE.test(produces);
    const expected = routes().filter((route) => !isPage(route));
    expect([...operations.keys()].sort()).to.deep.equal(expected.map(({ name }) => name).sort());
    expect(operations.size).to.be.greaterThan(25);
  });

  it('leaves out no route of the API, and every one of them says what it does and what it answers', () => {
    const api = routes().filter(({ name }) => name.includes(' /api/'));
    expect(api.filter(({ summary }) => summary.trim() === '').map(({ name }) => name)).to.deep.equal([]);
    expect(api.filter(({ answer, produces }) => (answer === undefined) === (produces === undefined)).map(({ name }) => name)).to.deep.equal(
      [],
    );
    for (const { params, query, body, answer } of api)
      for (const schema of [params, query, body, answer]) if (schema) compileSchema(schema);
  });

  it('gives every operation an id of its own and a heading, and documents each parameter of its path', async () => {
    const document = await documentOf(host);
    const operations = [...operationsOf(document)];
    expect(new Set(operations.map(([, { operationId }]) => operationId)).size).to.equal(operations.length);
    const headings = new Set(document.tags.map(({ name }) => name));
    for (const [name, { tags, parameters = [] }] of operations) {
      expect(headings.has(tags[0] ?? ''), name).to.equal(true);
      const inPath = parameters.filter((parameter) => parameter.in === 'path').map((parameter) => `{${parameter.name}}`);
      expect(name.match(/\{\w+\}/g) ?? [], name).to.deep.equal(inPath);
    }
    const find = operationsOf(document).get('GET /api/v1/agents/{name}/memory');
    expect(find).to.include({ operationId: 'getV1AgentsByNameMemory' });
    expect(find?.tags).to.deep.equal(['agents']);
  });

  it('shows examples that its own schemas accept', async () => {
    const wrong: string[] = [];
    const check = (what: string, schema: unknown, example: unknown): void => {
      const checked = compileSchema(schema as Record<string, unknown>)(example);
      if (!checked.ok) wrong.push(`${what}: ${checked.message}`);
    };
    const document = await documentOf(host);
    for (const [name, operation] of operationsOf(document)) {
      const body = operation.requestBody?.content['application/json'];
      if (body !== undefined) check(`${name} body`, body.schema, body.example);
      for (const [type, { schema, example }] of Object.entries(contentOf(operation)))
        if (schema !== undefined) check(`${name} ${type}`, schema, example);
    }
    const { schemas, responses } = document.components;
    for (const [name, response] of Object.entries(responses)) {
      const content = response['content'] as { readonly 'application/json': { readonly example: unknown } };
      check(name, schemas.Error, content['application/json'].example);
    }
    expect(wrong).to.deep.equal([]);
  });

  it('says which errors an operation answers with, by what it takes and does', async () => {
    const operations = operationsOf(await documentOf(host));
    const statuses = (name: string): readonly string[] => Object.keys(operations.get(name)?.responses ?? {});
    expect(statuses('GET /api/v1/health')).to.deep.equal(['200', '400', '403', '405', '500', '503']);
    expect(statuses('GET /api/v1/agents/{name}')).to.include('404').and.not.include('409');
    expect(statuses('POST /api/v1/agents')).to.include.members(['404', '409', '413', '415']).and.not.include('422');
    expect(statuses('POST /api/v1/sessions/{id}/messages')).to.deep.equal([
      '200',
      '400',
      '403',
      '404',
      '405',
      '409',
      '413',
      '415',
      '422',
      '429',
      '500',
      '503',
      '504',
    ]);
  });

  it('documents the event stream and the headers of the message endpoints', async () => {
    const operations = operationsOf(await documentOf(host));
    for (const path of ['sessions/{id}/messages', 'agents/{name}/session/messages', 'agents/{name}/invoke']) {
      const operation = operations.get(`POST /api/v1/${path}`);
      if (operation === undefined) throw new Error(path);
      expect(Object.keys(contentOf(operation))).to.deep.equal(['application/json', 'text/event-stream']);
      expect(operation.parameters?.filter((parameter) => parameter.in === 'header').map(({ name }) => name)).to.deep.equal([
        'Idempotency-Key',
        'X-Oryx-Interactive',
      ]);
      expect(operation.responses['200']).to.have.nested.property('headers.X-Trace-Id');
    }
  });

  it('follows routes that come and go', async () => {
    const before = operationsOf(await documentOf(host)).size;
    await registered(
      defineRoute({
        name: 'POST /api/v1/guests/{who}',
        summary: 'Let somebody in',
        kind: 'write',
        params: { type: 'object', properties: { who: { type: 'integer' } }, required: ['who'] },
        query: { type: 'object', properties: { loud: { type: 'boolean', description: 'Announce it.' } } },
        body: { type: 'object', properties: { shoes: { enum: ['on', 'off'] } }, required: ['shoes'] },
        bodyOptional: true,
        errors: [422],
        answer: { type: 'object', properties: { at: { type: 'string', format: 'date-time' } }, required: ['at'] },
        handle: () => ({ at: '2026-07-22T00:00:00Z' }),
      }),
    );
    const operation = operationsOf(await documentOf(host)).get('POST /api/v1/guests/{who}');
    expect(operation?.parameters).to.deep.equal([
      { name: 'who', in: 'path', required: true, schema: { type: 'integer' } },
      { name: 'loud', in: 'query', description: 'Announce it.', required: false, schema: { type: 'boolean', description: 'Announce it.' } },
    ]);
    expect(operation?.requestBody?.required).to.equal(false);
    expect(operation?.requestBody?.content['application/json'].example).to.deep.equal({ shoes: 'on' });
    expect(operation?.responses).to.have.property('422');
    await host.kernel.unload('guest');
    expect(operationsOf(await documentOf(host)).size).to.equal(before);
  });

  it('stays valid with routes of others: without an answer, malformed, twice the same, with schemas that point into themselves', async () => {
    const tree = {
      type: 'object',
      properties: { root: { $ref: '#/$defs/node' } },
      $defs: { node: { type: 'object', properties: { next: { $ref: '#/$defs/node' } } } },
    };
    const bare = { summary: 'x', kind: 'read', handle: () => ({}) } as const;
    await registered(
      defineRoute({ ...bare, name: 'GET /api/v1/guests/plain' }),
      defineRoute({ ...bare, name: 'GET /api/v1/guests/{id}/tree', answer: tree }),
      defineRoute({ ...bare, name: 'GET /api/v1/guests/{other}/tree' }),
      defineRoute({ ...bare, name: 'FETCH everything' }),
      defineRoute({ ...bare, name: 'GET /guests.html' }),
      defineRoute({ ...bare, name: 'GET /guests/count', produces: 'text/plain', handle: () => raw(200, {}, '1') }),
    );
    const document = await documentOf(host);
    expect(await new Validator().validate(document as unknown as Record<string, unknown>)).to.deep.equal({ valid: true });
    const guests = [...operationsOf(document).keys()].filter((name) => name.includes('guests'));
    expect(guests).to.deep.equal(['GET /api/v1/guests/plain', 'GET /api/v1/guests/{id}/tree', 'GET /guests/count']);
    const schema = contentOf(operationsOf(document).get('GET /api/v1/guests/{id}/tree') ?? expect.fail())['application/json']?.schema;
    expect(schema).to.have.nested.property('properties.data.$id', 'urn:oryxos:getV1GuestsByIdTree.data');
    expect(compileSchema(schema ?? {})({ code: 0, message: 'success', data: { root: { next: 1 } }, timestamp: 1 }).ok).to.equal(false);
  });

  it('is not made again while nothing changes', async () => {
    let asked = 0;
    const route = defineRoute({ name: 'GET /api/v1/guests/lazy', summary: 'x', kind: 'read', handle: () => invalidInput('never') });
    Object.defineProperty(route, 'answer', { get: () => ((asked += 1), { type: 'null' }) });
    await registered(route);
    await documentOf(host);
    const once = asked;
    expect(once).to.be.greaterThan(0);
    await documentOf(host);
    expect(asked).to.equal(once);
  });
});

describe('the page that shows the API', function () {
  this.timeout(20_000);
  let host: TestHost;
  before(async () => {
    host = await startHost();
  });
  after(() => host.stop());
  const get = (path: string) => host.request('GET', path);

  it('is served from here alone, with every file that it names', async () => {
    const page = await get('/swagger-ui');
    expect(page.headers['content-type']).to.equal('text/html; charset=utf-8');
    const files = [...page.text.matchAll(/(?:src|href)="(\/swagger-ui\/[^"]+)"/g)].map(([, path]) => path ?? '');
    expect(files).to.have.length(5);
    for (const path of files) {
      const file = await get(path);
      expect(file.status, path).to.equal(200);
      expect(file.text.length, path).to.be.greaterThan(100);
    }
    expect(page.text).to.not.match(/(src|href)="(https?:)?\/\//);
    expect((await get('/swagger-ui/initializer.js')).text)
      .to.contain("url: '/v3/api-docs'")
      .and.contain('validatorUrl: null');
  });

  it('runs no inline script, and its policy lets it reach nothing but this server', async () => {
    const page = await get('/swagger-ui');
    expect(page.text).to.not.match(/<script>|<script [^>]*>[^<]|\son\w+=/);
    const policy = String(page.headers['content-security-policy']);
    expect(policy).to.contain("default-src 'none'").and.contain("script-src 'self';").and.contain("connect-src 'self'");
    expect(policy).to.not.match(/script-src[^;]*unsafe|https?:/);
  });

  it('is found under the names that people know', async () => {
    for (const path of ['/swagger-ui.html', '/swagger-ui/', '/swagger-ui/index.html']) {
      const answer = await get(path);
      expect([answer.status, answer.headers['location']], path).to.deep.equal([302, '/swagger-ui']);
    }
  });

  it('serves no file of the package beside its own', async () => {
    for (const path of [
      'package.json',
      'index.html.map',
      '..%2f..%2fpackage.json',
      '%2e%2e%2fpackage.json',
      'swagger-ui-bundle.js.map',
      'constructor',
    ])
      expect((await get(`/swagger-ui/${path}`)).status, path).to.equal(404);
  });
});

import { expect } from 'chai';
import { createRestClient, pathOf } from '../../../adapters/cli/rest-client.ts';
import { isOryxError } from '../../../kernel/index.ts';
import { refuse, sendEvents, startApiServer } from './api-server.ts';

const failure = async (call: Promise<unknown>): Promise<{ status: number; message: string }> => {
  try {
    await call;
  } catch (error) {
    if (isOryxError(error)) return { status: error.status, message: error.message };
    throw error;
  }
  throw new Error('did not fail');
};

describe('the REST client of the command line', () => {
  it('sends JSON and returns the data of the envelope', async () => {
    await using server = await startApiServer();
    server.on('POST /api/v1/agents', ({ body }) => ({ got: body }));
    const client = createRestClient(server.url);

    expect(await client.post('/api/v1/agents', { name: 'ä' })).to.deep.equal({ got: { name: 'ä' } });
    expect(server.seen[0]?.headers['content-type']).to.equal('application/json');
    client.close();
  });

  it('encodes values into paths', () => {
    expect(pathOf`/api/v1/sessions/${'web:a b/c'}/messages`).to.equal('/api/v1/sessions/web%3Aa%20b%2Fc/messages');
  });

  it('turns an error envelope into an error with its status and message', async () => {
    await using server = await startApiServer();
    server.on('GET /api/v1/agents/x', (_, response) => refuse(response, 404, 'Agent "x" was not found'));
    const client = createRestClient(server.url);

    expect(await failure(client.get('/api/v1/agents/x'))).to.deep.equal({ status: 404, message: 'Agent "x" was not found' });
    client.close();
  });

  it('says so when something else answers, or nothing', async () => {
    const server = await startApiServer();
    server.on('GET /page', (_, response) => void response.end('<html>'));
    const client = createRestClient(server.url);

    expect((await failure(client.get('/page'))).message).to.contain('does not answer like OryxOS (HTTP 200)');
    await server.close();
    expect((await failure(client.get('/page'))).message).to.contain(`No connection to ${server.url}`);
    expect(await client.isHealthy()).to.equal(false);
    client.close();
  });

  it('streams events as they come and names the run', async () => {
    await using server = await startApiServer();
    server.on('POST /m', (_, response) => {
      response.setHeader('x-trace-id', 't1');
      sendEvents(response, ['token', { delta: 'a' }]);
      response.end();
    });
    const client = createRestClient(server.url);
    const stream = await client.stream('/m', {}, new AbortController().signal);
    const events = [];
    for await (const event of stream.events) events.push(event);

    expect(stream.traceId).to.equal('t1');
    expect(events).to.deep.equal([{ event: 'token', data: { delta: 'a' } }]);
    expect(server.seen[0]?.headers).to.include({ accept: 'text/event-stream', 'x-oryx-interactive': '1' });
    client.close();
  });

  it('throws the envelope of a request that failed before its stream', async () => {
    await using server = await startApiServer();
    server.on('POST /m', (_, response) => refuse(response, 429, 'too many wait'));
    const client = createRestClient(server.url);

    expect(await failure(client.stream('/m', {}, new AbortController().signal))).to.deep.equal({ status: 429, message: 'too many wait' });
    client.close();
  });

  it('reports a stream that breaks', async () => {
    await using server = await startApiServer();
    server.on('POST /m', (_, response) => {
      sendEvents(response, ['token', { delta: 'a' }]);
      setImmediate(() => response.destroy());
    });
    const client = createRestClient(server.url);
    const { events } = await client.stream('/m', {}, new AbortController().signal);
    const drain = async (): Promise<void> => {
      for await (const event of events) expect(event.event).to.equal('token');
    };

    expect((await failure(drain())).message).to.contain('was lost');
    client.close();
  });
});

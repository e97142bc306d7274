import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { expect } from 'chai';
import { webhookAdapter } from '../../../adapters/notify/webhook.ts';
import type { NotifyOutcome } from '../../../kernel/index.ts';
import type { Lookup } from '../../../plugins/outside/registered-dialer.ts';
import { outgoing } from '../../harness/outgoing.ts';

/** For "localhost", signed by itself, valid for a hundred years. */
const KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgx+o30cGr63p+Orts
4E3yVFChKHo4AXgsSM1FMZmOWCChRANCAAQJ7rJJDMo4PX//oOCqPQZSq1bRBIbA
zwWxDM+QOqbN/YKUmG6ntW10VYMhA39dnxWe8hG2wxPB0fNf9SWfPGLR
-----END PRIVATE KEY-----`;
const CERT = `-----BEGIN CERTIFICATE-----
MIIBfzCCASWgAwIBAgIUc3CL2AGXAnXWBpEZQhjbod8Gb+QwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEzMDE3MDQ1MloYDzIxMjYxMTA2
MTcwNDUyWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAAQJ7rJJDMo4PX//oOCqPQZSq1bRBIbAzwWxDM+QOqbN/YKUmG6ntW10
VYMhA39dnxWe8hG2wxPB0fNf9SWfPGLRo1MwUTAdBgNVHQ4EFgQUL4dTbYpAUAZx
QK1DfU6UZWVL7EwwHwYDVR0jBBgwFoAUL4dTbYpAUAZxQK1DfU6UZWVL7EwwDwYD
VR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNIADBFAiB/EMH+v55ErSQCiwN+tRPS
Kbu6CEaa6/ULVwBy/xQs4gIhAMLrv3j+d7qgGUE6TreZ0HyF8aUhEdNrPx3MptUv
kkXu
-----END CERTIFICATE-----`;

async function sendTo(url: string, lookup?: Lookup): Promise<NotifyOutcome> {
  await using out = outgoing(lookup);
  const target = { channel: 'c', url, config: {} };
  return await webhookAdapter.send({ content: 'hi', key: 'k', at: 0 }, target, out.http, new AbortController().signal);
}

/** What comes of sending to a server; `{port}` in the URL is its port. */
async function sendToServer(server: Server, url: string): Promise<NotifyOutcome> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => sockets.add(socket.on('error', () => {})));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    return await sendTo(url.replace('{port}', String((server.address() as AddressInfo).port)));
  } finally {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  }
}

describe('a message meets a network', () => {
  it('that has nobody at any of the addresses: it may be sent later', async () => {
    const both: Lookup = (_host, _options, done) =>
      done(null, [
        { address: '127.0.0.1', family: 4 },
        { address: '::1', family: 6 },
      ]);
    for (const outcome of [await sendTo('http://127.0.0.1:9/'), await sendTo('http://robot.test:9/', both)]) {
      expect(outcome).to.deep.equal({ ok: false, kind: 'later', message: 'the webhook cannot be reached: connection refused' });
    }
  });

  it('whose names cannot be looked up: it may be sent later', async () => {
    for (const code of ['ENOTFOUND', 'EAI_AGAIN']) {
      const failing: Lookup = (_host, _options, done) => done(Object.assign(new Error(code), { code, syscall: 'getaddrinfo' }), []);
      expect(await sendTo('http://robot.test/', failing)).to.include({ kind: 'later' });
    }
  });

  it('where a certificate is not good: it may be sent later', async () => {
    const server = createTlsServer({ key: KEY, cert: CERT }, (_request, response) => response.end());
    expect(await sendToServer(server, 'https://127.0.0.1:{port}/')).to.deep.equal({
      ok: false,
      kind: 'later',
      message: 'the webhook cannot be reached: its TLS certificate is self-signed',
    });
  });

  it('where nobody speaks TLS, or speaks it to the end: it may be sent later', async () => {
    const plain = createServer((socket) => void socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    expect(await sendToServer(plain, 'https://127.0.0.1:{port}/')).to.include({
      kind: 'later',
      message: 'the webhook cannot be reached: it does not speak TLS',
    });
    const mute = createServer((socket) => void socket.on('data', () => socket.destroy()));
    expect(await sendToServer(mute, 'https://127.0.0.1:{port}/')).to.include({ kind: 'later' });
  });

  it('that breaks after the request has gone out: nobody knows', async () => {
    const rude = createServer((socket) => void socket.on('data', () => socket.resetAndDestroy()));
    expect(await sendToServer(rude, 'http://127.0.0.1:{port}/')).to.include({ kind: 'unknown' });
    const strange = createServer((socket) => void socket.on('data', () => socket.end('250 OK\r\n')));
    expect(await sendToServer(strange, 'http://127.0.0.1:{port}/')).to.include({ kind: 'unknown' });
  });

  it('that leads to where the server never calls: it is refused', async () => {
    const inward: Lookup = (_host, _options, done) => done(null, [{ address: '169.254.169.254', family: 4 }]);
    for (const outcome of [await sendTo('http://robot.test/', inward), await sendTo('ftp://robot.test/'), await sendTo('nonsense')]) {
      expect(outcome).to.include({ kind: 'refused' });
      expect(outcome).to.have.property('message').that.does.not.include('robot.test');
    }
  });
});

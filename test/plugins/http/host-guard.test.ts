import { expect } from 'chai';
import type { IncomingMessage } from 'node:http';
import { hostGuard } from '../../../plugins/http/host-guard.ts';
import type { OryxError } from '../../../kernel/index.ts';

type Headers = Readonly<Record<string, string>>;

/** The status with which a request would be refused, 200 when it passes. */
function verdict(bindHost: string, headers: Headers, method = 'GET', allowedHosts: readonly string[] = []): number {
  const rawHeaders = Object.entries(headers).flat();
  const guard = hostGuard({ bindHost, allowedHosts, machineName: 'Workhorse' });
  try {
    guard({ method, headers, rawHeaders } as unknown as IncomingMessage);
    return 200;
  } catch (error) {
    return (error as OryxError).status;
  }
}

describe('http: host guard', () => {
  for (const host of ['127.0.0.1', '127.0.0.1:8080', 'localhost', 'LOCALHOST:8080', '[::1]', '[::1]:8080']) {
    it(`accepts the Host "${host}" on a loopback bind`, () => expect(verdict('127.0.0.1', { host })).to.equal(200));
  }
  const foreign = [
    'evil.test',
    'evil.test:8080',
    '127.evil.test',
    'localhost.evil.test',
    '127.0.0.1.nip.io',
    '[::1].evil.test',
    'localhost.',
    'localhost:',
    'localhost:99999',
    'localhost:80@evil.test',
    'localhost, evil.test',
    '192.168.1.7',
    '0.0.0.0',
    'workhorse',
    '',
  ];
  for (const host of foreign) {
    it(`refuses the Host "${host}" on a loopback bind`, () => expect(verdict('127.0.0.1', { host })).to.equal(403));
  }

  it('accepts the address that it is bound to', () => expect(verdict('127.0.0.2', { host: '127.0.0.2:8080' })).to.equal(200));

  for (const host of ['192.168.1.7:8080', '10.0.0.1', '[fe80::1]:8080', 'workhorse', 'WORKHORSE:8080', 'localhost', '127.0.0.1']) {
    it(`accepts the Host "${host}" on another bind`, () => expect(verdict('0.0.0.0', { host })).to.equal(200));
  }
  for (const host of ['evil.test', 'workhorse.evil.test', '0x7f.1', '2130706433', '1.2.3']) {
    it(`refuses the Host "${host}" on another bind`, () => expect(verdict('0.0.0.0', { host })).to.equal(403));
  }

  it('accepts names of the whitelist, with the port when one is given there', () => {
    const allowed = ['Oryx.example.com', 'tls.example.com:8443'];
    expect(verdict('127.0.0.1', { host: 'oryx.example.com:1234' }, 'GET', allowed)).to.equal(200);
    expect(verdict('127.0.0.1', { host: 'tls.example.com:8443' }, 'GET', allowed)).to.equal(200);
    expect(verdict('127.0.0.1', { host: 'tls.example.com' }, 'GET', allowed)).to.equal(403);
    expect(verdict('127.0.0.1', { host: 'x.oryx.example.com' }, 'GET', allowed)).to.equal(403);
  });

  it('answers 400 when Host is missing or given twice', () => {
    expect(verdict('127.0.0.1', {})).to.equal(400);
    const guard = hostGuard({ bindHost: '127.0.0.1', allowedHosts: [], machineName: 'x' });
    const rawHeaders = ['Host', 'localhost', 'host', 'localhost'];
    expect(() => guard({ method: 'GET', headers: { host: 'localhost' }, rawHeaders } as unknown as IncomingMessage)).to.throw(
      'more than once',
    );
  });

  it('accepts the origin that equals its own, default ports included', () => {
    expect(verdict('127.0.0.1', { host: '127.0.0.1:8080', origin: 'http://127.0.0.1:8080' }, 'POST')).to.equal(200);
    expect(verdict('127.0.0.1', { host: 'localhost', origin: 'http://localhost' }, 'POST')).to.equal(200);
    expect(verdict('127.0.0.1', { host: 'localhost:80', origin: 'http://localhost' }, 'POST')).to.equal(200);
    expect(verdict('127.0.0.1', { host: '[::1]:8080', origin: 'http://[::1]:8080' }, 'POST')).to.equal(200);
  });

  const origins = [
    'http://evil.test',
    'null',
    'http://localhost:9999',
    'http://localhost:8080',
    'https://127.0.0.1:8080',
    'file://',
    'x',
    '',
  ];
  for (const method of ['GET', 'POST', 'DELETE']) {
    for (const origin of origins) {
      it(`refuses ${method} with the Origin "${origin}" at 127.0.0.1:8080`, () => {
        expect(verdict('127.0.0.1', { host: '127.0.0.1:8080', origin }, method)).to.equal(403);
      });
    }
  }

  it('accepts the https origin of a whitelisted name, for a TLS proxy', () => {
    const headers = { host: 'oryx.example.com', origin: 'https://oryx.example.com' };
    expect(verdict('127.0.0.1', headers, 'POST', ['oryx.example.com'])).to.equal(200);
    expect(verdict('127.0.0.1', { ...headers, origin: 'https://oryx.example.com.evil.test' }, 'POST', ['oryx.example.com'])).to.equal(403);
  });

  it('refuses what a browser marks as coming from another site, when it changes something', () => {
    const host = 'localhost:8080';
    for (const site of ['cross-site', 'same-site', 'cross-site, same-origin']) {
      expect(verdict('127.0.0.1', { host, 'sec-fetch-site': site }, 'POST'), site).to.equal(403);
      expect(verdict('127.0.0.1', { host, 'sec-fetch-site': site }, 'GET'), site).to.equal(200);
    }
    for (const site of ['same-origin', 'none']) {
      expect(verdict('127.0.0.1', { host, 'sec-fetch-site': site }, 'POST'), site).to.equal(200);
    }
  });
});

import { expect } from 'chai';
import * as fc from 'fast-check';
import { networkInterfaces } from 'node:os';
import { addressKind } from '../../../plugins/sandbox/address-kind.ts';
import { judgeUrl } from '../../../plugins/sandbox/judge-url.ts';
import type { JudgedUrl, UrlRules } from '../../../plugins/sandbox/judge-url.ts';
import { isOwnAddress } from '../../../plugins/sandbox/own-address.ts';
import { privateRule } from '../../../plugins/sandbox/private-rule.ts';

const PUBLIC = '93.184.215.14';
const rules: UrlRules = {
  allowed: ['api.example.com', '*.example.org', 'h.test:8443', 'ssh.test:22', '10.0.0.5', '[fd00::5]'],
  readPolicy: 'whitelist',
  allowedPrivate: [],
  isOwn: (address, port) => isOwnAddress(address, port, 4711),
};

const judged = (text: string, more: Partial<JudgedUrl> = {}, changed: Partial<UrlRules> = {}): string | undefined => {
  const refusal = judgeUrl({ text, access: 'read', addresses: undefined, ...more }, { ...rules, ...changed });
  if (refusal) expect(refusal.blockedBy).to.equal('sandbox');
  return refusal?.message;
};
const open = { readPolicy: 'public' } as const;
const opening = (...entries: readonly string[]) => ({ allowedPrivate: entries.map(privateRule) });

describe('the verdict on a URL', () => {
  const allowed = [
    'https://api.example.com/x',
    'http://API.example.com:8080/',
    'https://api.example.com./',
    'https://a.example.org',
    'https://a.b.example.org:7001/',
    'https://h.test:8443/',
    'http:api.example.com',
  ];
  for (const value of allowed) it(`allows ${value}`, () => expect(judged(value)).to.equal(undefined));

  const refused = [
    'https://example.com/',
    'https://example.org/',
    'https://evil-example.org/',
    'https://api.example.com.evil.test/',
    'https://h.test/',
    'https://h.test:8444/',
    'http://127.0.0.1/',
    'http://[::1]/',
    'https://api.example.com@evil.test/',
    'ftp://api.example.com/',
    'file:///etc/passwd',
    'data:text/plain,x',
    'not a url',
    '',
    'https://user:pw@api.example.com/',
    'https://api.example.com%00.evil.test/',
    'https://evil.test/?https://api.example.com',
    'https://.example.org/',
    'https://api.example.com/\r\nX-Evil: 1',
    'https://evil.test\n.example.org/',
    'ht\ttps://api.example.com/',
    'https://api_x.example.org/',
  ];
  for (const value of refused) {
    it(`refuses ${JSON.stringify(value)}`, () => expect(judged(value)).to.include('http whitelist'));
  }

  it('shows no password', () => expect(judged('https://user:pa55word@evil.test/')).to.not.include('pa55word'));

  it('says what an administrator adds', () => {
    expect(judged('https://evil.test/')).to.equal(
      '"evil.test" is not on the http whitelist; an administrator can add it with POST /api/v1/sandbox/whitelist/http',
    );
  });

  it('opens ports of other protocols only to an entry that names the port', () => {
    for (const port of [22, 25, 6379, 5432, 3306, 11211, 2375, 27017]) {
      expect(judged(`http://api.example.com:${port}/`))
        .to.include(`"api.example.com:${port}"`)
        .and.include('http whitelist');
      expect(judged(`http://somewhere.test:${port}/`, {}, open)).to.include(`Port ${port}`);
    }
    expect(judged('http://ssh.test:22/')).to.equal(undefined);
    for (const port of [80, 443, 3000, 8000, 8080, 8443, 11434]) expect(judged(`http://api.example.com:${port}/`)).to.equal(undefined);
  });

  describe('with http.read_policy: public', () => {
    it('lets every host of the internet be read, and none be written that is not listed', () => {
      expect(judged('https://news.test/', { addresses: [PUBLIC] }, open)).to.equal(undefined);
      expect(judged('https://news.test/', { access: 'write', addresses: [PUBLIC] }, open)).to.include('not on the http whitelist');
      expect(judged('https://api.example.com/', { access: 'write', addresses: [PUBLIC] }, open)).to.equal(undefined);
    });

    for (const host of [
      'localhost',
      'LOCALHOST.',
      'foo.localhost',
      'x.internal',
      'ip6-localhost',
      'kubernetes.default.svc',
      'printer.local',
      'nas',
    ]) {
      it(`opens no name of a local network: ${host}`, () => expect(judged(`http://${host}/`, {}, open)).to.include('http whitelist'));
    }

    it('opens a local name that is listed, once its private address is', () => {
      const listed = { ...open, allowed: ['nas'] };
      expect(judged('http://nas/', { addresses: ['192.168.1.9'] }, listed)).to.include('http.allowed_private');
      expect(judged('http://nas/', { addresses: ['192.168.1.9'] }, { ...listed, ...opening('nas') })).to.equal(undefined);
    });
  });

  describe('once its addresses are known', () => {
    it('needs every one of them to be public', () => {
      expect(judged('https://api.example.com/', { addresses: [PUBLIC, '2606:4700::1'] })).to.equal(undefined);
      for (const address of ['127.0.0.1', '10.1.2.3', '::1', '::ffff:10.1.2.3', 'fd12::1', '100.64.0.1']) {
        expect(judged('https://api.example.com/', { addresses: [PUBLIC, address] }), address)
          .to.include(address)
          .and.include('http.allowed_private')
          .and.include('whitelist');
      }
    });

    it('names the way out for proxies with fake addresses', () => {
      const message = judged('https://api.example.com/', { addresses: ['198.18.0.7'] });
      expect(message).to.include('"198.18.0.0/15" to http.allowed_private').and.include('Clash');
      expect(judged('https://api.example.com/', { addresses: ['198.18.0.7'] }, opening('198.18.0.0/15'))).to.equal(undefined);
      expect(judged('https://evil.test/', { addresses: ['198.18.0.7'] }, opening('198.18.0.0/15'))).to.include('not on the http whitelist');
    });

    it('opens private addresses by host, host and port, address, address and port, or network', () => {
      const at = (text: string, address: string, ...entries: readonly string[]) =>
        judged(text, { addresses: [address] }, opening(...entries));
      expect(at('http://api.example.com/', '10.0.0.5', 'api.example.com')).to.equal(undefined);
      expect(at('http://api.example.com/', '10.0.0.5', 'API.example.com:80')).to.equal(undefined);
      expect(at('http://api.example.com:81/', '10.0.0.5', 'api.example.com:80')).to.include('allowed_private');
      expect(at('http://a.example.org/', '10.0.0.5', 'api.example.com')).to.include('allowed_private');
      expect(at('http://api.example.com/', '10.0.0.5', '10.0.0.5')).to.equal(undefined);
      expect(at('http://api.example.com/', '10.0.0.6', '10.0.0.5')).to.include('allowed_private');
      expect(at('http://api.example.com/', '10.0.0.5', '10.0.0.5:80')).to.equal(undefined);
      expect(at('http://api.example.com:81/', '10.0.0.5', '10.0.0.5:80')).to.include('allowed_private');
      expect(at('http://api.example.com/', '::ffff:10.0.0.5', '10.0.0.0/8')).to.equal(undefined);
      expect(at('http://api.example.com/', 'fd00::7', 'fd00::/8')).to.equal(undefined);
      expect(at('http://api.example.com/', 'fd00::7', '[fd00::7]:80')).to.equal(undefined);
      expect(at('http://api.example.com/', 'fd00::7', '10.0.0.0/8')).to.include('allowed_private');
      expect(judged('http://10.0.0.5/')).to.include('private address');
      expect(judged('http://10.0.0.5/', {}, opening('10.0.0.0/8'))).to.equal(undefined);
      expect(judged('http://[fd00::5]/', {}, opening('fd00::5'))).to.equal(undefined);
    });

    for (const entry of ['', '*', '*.x.test', 'http://x', '10.0.0.0/33', '10/8', 'a b']) {
      it(`knows no entry ${JSON.stringify(entry)} of http.allowed_private`, () => expect(() => privateRule(entry)).to.throw());
    }

    it('never opens metadata and link-local addresses, however they are spelt and whatever is listed', () => {
      const all = { ...opening('0.0.0.0/0', '::/0', 'api.example.com'), ...open };
      for (const address of [
        '169.254.169.254',
        '::ffff:169.254.169.254',
        'fd00:ec2::254',
        '100.100.100.200',
        '168.63.129.16',
        'fe80::1',
        '::a9fe:a9fe',
      ]) {
        expect(judged('http://api.example.com/', { addresses: [address] }, all), address)
          .to.include('metadata')
          .and.include('whitelist');
      }
      for (const host of ['169.254.169.254', '2852039166', '0xa9fea9fe', '[::ffff:a9fe:a9fe]', 'metadata.google.internal']) {
        expect(judged(`http://${host}/`, {}, { ...all, allowed: ['*.google.internal', '169.254.169.254'] }), host).to.include('metadata');
      }
    });

    it('never opens this server itself, on any address of the machine', () => {
      const all = { ...opening('0.0.0.0/0', '::/0'), allowed: ['api.example.com'] };
      const own = Object.values(networkInterfaces())
        .flatMap((list) => list ?? [])
        .map(({ address }) => address);
      for (const address of [
        '127.0.0.1',
        '127.9.9.9',
        '0.0.0.0',
        '::1',
        '::',
        '::ffff:127.0.0.1',
        ...own.filter((one) => !one.startsWith('fe80')),
      ]) {
        expect(judged('http://api.example.com:4711/', { addresses: [address] }, all), address).to.include('this server itself');
        expect(judged('http://api.example.com:4712/', { addresses: [address] }, all), address).to.equal(undefined);
      }
    });
  });
});

describe('the kind of an address', () => {
  const kinds = {
    public: [
      '93.184.215.14',
      '172.32.0.1',
      '11.0.0.1',
      '192.167.255.255',
      '100.128.0.1',
      '198.20.0.1',
      '2606:4700::1111',
      '::ffff:8.8.8.8',
    ],
    fake: ['198.18.0.1', '198.19.255.255', '::ffff:198.18.0.1'],
    never: [
      '169.254.0.1',
      'fe80::1',
      '100.100.100.200',
      '192.0.0.192',
      '168.63.129.16',
      'nonsense',
      '',
      '64:ff9b::a9fe:a9fe',
      '2002:a9fe:a9fe::',
    ],
    private: [
      '0.0.0.0',
      '0.1.2.3',
      '10.0.0.1',
      '100.64.0.1',
      '127.0.0.1',
      '172.16.0.1',
      '172.31.255.255',
      '192.0.0.1',
      '192.0.2.1',
      '192.168.0.1',
      '192.88.99.1',
      '198.51.100.1',
      '203.0.113.1',
      '224.0.0.1',
      '239.1.1.1',
      '240.0.0.1',
      '255.255.255.255',
      '::',
      '::1',
      '::7f00:1',
      '::ffff:127.0.0.1',
      '::ffff:0:7f00:1',
      '64:ff9b::7f00:1',
      '64:ff9b:1::1',
      '100::1',
      '2001::1',
      '2001:db8::1',
      '2001:20::1',
      '2002:7f00:1::',
      '3fff::1',
      '5f00::1',
      'fc00::1',
      'fd00::1',
      'fec0::1',
      'ff02::1',
      '4000::1',
      '1::1',
      '2606:4700::5efe:7f00:1',
      '2606:4700::200:5efe:7f00:1',
    ],
  } as const;
  for (const [kind, addresses] of Object.entries(kinds)) {
    for (const address of addresses) it(`of "${address}" is ${kind}`, () => expect(addressKind(address)).to.equal(kind));
  }

  it('is public for IPv6 only in 2000::/3, and never for an embedded private IPv4 address', () => {
    const hextet = fc.integer({ min: 0, max: 0xffff });
    fc.assert(
      fc.property(fc.array(hextet, { minLength: 8, maxLength: 8 }), (parts) => {
        const kind = addressKind(parts.map((part) => part.toString(16)).join(':'));
        if (kind === 'public') expect((parts[0] ?? 0) >> 13).to.equal(1);
      }),
    );
    fc.assert(
      fc.property(fc.constantFrom('::', '::ffff:', '::ffff:0:', '64:ff9b::', '2002:'), hextet, (before, low) => {
        const text = before === '2002:' ? `2002:a00:${low.toString(16)}::` : `${before}a00:${low.toString(16)}`;
        expect(addressKind(text)).to.equal('private');
      }),
    );
  });
});

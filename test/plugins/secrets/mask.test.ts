import { expect } from 'chai';
import { array, assert, boolean, constant, constantFrom, dictionary, integer, oneof, property, string } from 'fast-check';
import { Masker } from '../../../plugins/secrets/masker.ts';

const mask = (text: string): string => new Masker().mask(text);
const JWT = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl';
const PEM = '-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkq\nhkiG9w0BAQEFAASC\n-----END PRIVATE KEY-----';

/** Text, and what must stand there instead. */
const HIDDEN: Readonly<Record<string, readonly (readonly [string, string])[]>> = {
  'tokens of known shapes': [
    ['key sk-abcdefghijklmnop1234 used', 'key sk-a**** used'],
    ['sk-proj-abc_DEF-123456', 'sk-p****'],
    [`${'x'.repeat(190)}sk-abcdefghijklmnopqrstuvwxyz0123`, `${'x'.repeat(190)}sk-a****`],
    ['oryx_abcdefghijkl', 'oryx****'],
    ['AKIAIOSFODNN7EXAMPLE', 'AKIA****'],
    ['ghp_0123456789abcdefghij', 'ghp_****'],
    ['xoxb-1234-5678-abcdef', 'xoxb****'],
    [JWT, 'eyJh****'],
    [PEM, '-----BEGIN PRIVATE KEY-----****-----END PRIVATE KEY-----'],
    [JSON.stringify({ pem: PEM, more: 1 }), '{"pem":"-----BEGIN PRIVATE KEY-----****-----END PRIVATE KEY-----","more":1}'],
    ['-----BEGIN RSA PRIVATE KEY-----\nMIIEvQIBADAN', '-----BEGIN RSA PRIVATE KEY-----****'],
  ],
  'authorization headers': [
    ['Authorization: Bearer abcdefghijklmnop', 'Authorization: Bearer abcd****'],
    ['authorization:Basic dXNlcjpwYXNz', 'authorization:Basic dXNl****'],
    ['{"Authorization":"Bearer abcdefghijklmnop","x":1}', '{"Authorization":"Bearer abcd****","x":1}'],
    ['Proxy-Authorization: abcdefghij', 'Proxy-Authorization: abcd****'],
    ['curl -H "Authorization: Bearer abcdefghijklmnop" x', 'curl -H "Authorization: Bearer abcd****" x'],
    ['sent Bearer abcdefghijklmnop12 there', 'sent Bearer abcd**** there'],
  ],
  addresses: [
    ['http://bob:pa55word@h/x', 'http://bob:****@h/x'],
    ['postgres://u:long-p@ss-word@db:5432/x', 'postgres://u:long****@db:5432/x'],
    ['https://oapi.dingtalk.com/robot/send?access_token=0123456789abcdef', 'https://oapi.dingtalk.com/robot/send?access_token=0123****'],
    ['https://x.test/a?b=1&sign=abcdefghijk&c=2', 'https://x.test/a?b=1&sign=abcd****&c=2'],
    ['https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key=0123456789', 'https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key=0123****'],
    ['https://open.feishu.cn/open-apis/bot/v2/hook/0123-4567-89ab', 'https://open.feishu.cn/open-apis/bot/v2/hook/0123****'],
  ],
  'fields whose names say so': [
    ['{"password":"hunter2longvalue","k":1}', '{"password":"hunt****","k":1}'],
    ['{"client_secret": "short", "apiKey": "abcdefghijk"}', '{"client_secret": "****", "apiKey": "abcd****"}'],
    ['{"password":"with \\" quote and \\\\","b":"c"}', '{"password":"with****","b":"c"}'],
    ['{"password":"\\"quoted\\" at once","b":"c"}', '{"password":"****","b":"c"}'],
    ['{"token":1234567890}', '{"token":"1234****"}'],
    ["{'password': 'it''s long enough', 'b': 'c'}", "{'password': 'it''****', 'b': 'c'}"],
    ['user=bob&password=hunter2long&x=1', 'user=bob&password=hunt****&x=1'],
    ['DB_PASSWORD=hunter2long', 'DB_PASSWORD=hunt****'],
    ['db:\n  password: correct horse battery\n  port: 1', 'db:\n  password: corr****\n  port: 1'],
    ['- api-key: abcdefghijk', '- api-key: abcd****'],
    ['X-Api-Key: abcdefghijk', 'X-Api-Key: abcd****'],
    ['password: |\n  correct horse\nport: 1', 'password: |\n  corr****\nport: 1'],
    ['login with token: abcdefghijk failed', 'login with token: abcd**** failed'],
    ['{"password":"cut off in the midd', '{"password":"cut ****'],
  ],
};

const UNTOUCHED = [
  'max_tokens: 4096',
  '{"prompt_tokens":12,"completionTokens":3,"tokenizer":"x"}',
  'The token was refused, see the password page.',
  'disk-usage-monitor-service and task-force-something-long',
  '{"key":"daily","name":"report"}',
  '{"password":null,"token":"","secret":false}',
  'https://example.test:8443/path?page=2',
  'ssh://git@github.com/x/y.git',
  '2026-11-30T13:27:01.123Z 4f8d2a6e-1c3b-4d5e-8f90-123456789abc',
  'bearer tokens are explained in RFC 6750',
  'password=**** and {"apiKey":"****9876"}',
  'Grüße, 你好, \u001b[31mred\u0000',
  '',
];

describe('masking', () => {
  for (const [what, cases] of Object.entries(HIDDEN)) {
    it(`hides ${what}`, () => {
      for (const [text, expected] of cases) expect(mask(text), text).to.equal(expected);
    });
  }

  it('hides fields in JSON that stands in strings of JSON, however deep', () => {
    let text =
      '{"password":"hunter2 \\"long\\" value","k":"sk-abcdefghijklmnop1234","h":"Authorization: Bearer abcdefghijklmnop","u":"http://bob:pa55word@h/x"}';
    for (let depth = 0; depth < 3; depth += 1) {
      const hidden = mask(text);
      expect(hidden, text).to.not.match(/hunter2|long|abcdefgh|pa55word/);
      expect(() => JSON.parse(hidden), hidden).to.not.throw();
      text = JSON.stringify({ arguments: text, n: 1 });
    }
  });

  it('leaves everything else as it is', () => {
    for (const text of UNTOUCHED) expect(mask(text), text).to.equal(text);
  });

  it('changes nothing that is masked already', () => {
    for (const [text] of Object.values(HIDDEN).flat()) expect(mask(mask(text)), text).to.equal(mask(text));
  });

  it('keeps JSON valid and its structure as it is, whatever the values', () => {
    const names = constantFrom('password', 'apiKey', 'text', 'Authorization', 'url', 'token');
    const values = oneof(
      string({ unit: 'binary' }),
      constantFrom('a\\', '"', '\\"x\\', "it's", 'http://a:b\\@c', PEM, 'token: "x', 'x\ny', 'Bearer '),
      integer(),
      constant(null),
    );
    const record = dictionary(names, oneof(values, array(values)));
    assert(
      property(record, boolean(), (fields, nested) => {
        const text = JSON.stringify(nested ? { inner: JSON.stringify(fields) } : fields);
        const parsed = JSON.parse(mask(text)) as Record<string, unknown>;
        expect(Object.keys(parsed)).to.deep.equal(nested ? ['inner'] : Object.keys(fields));
        if (nested) expect(Object.keys(JSON.parse(String(parsed['inner'])) as object)).to.deep.equal(Object.keys(fields));
      }),
      { numRuns: 500 },
    );
  });

  it('takes linear time on texts made to slow it down', function () {
    this.timeout(30_000);
    const million = (part: string): string => part.repeat(Math.ceil(1_000_000 / part.length));
    const known = new Masker();
    known.remember(`${'a'.repeat(200)}b`);
    const texts = [
      'a',
      ' ',
      '\\',
      '"',
      '-',
      '.',
      '\n',
      'eyJ',
      'eyJaaaaaaaa.',
      'eyJaaaaaaaaa',
      'sk-',
      'sk-a',
      '://',
      '://a:',
      '://a:b',
      'token',
      'token:',
      'token="',
      'token=\'"',
      'token \\"',
      'token: \\\\"',
      'password: ',
      'password:\n',
      'authorization',
      'authorization: ',
      'authorization: a',
      'bearer ',
      'Bearer a',
      '-----BEGIN A-----',
      '-----BEGIN ',
      '-----BEGIN A-----\n',
      'xoxb-',
      '&sign=',
      '/hook/',
      'A',
      'AKIA',
      'tokentoken',
      '{"token":{',
      "token:'",
      "token:''",
      "'",
      'ghp_',
      '\\u0026',
      '/bot1',
    ].map(million);
    for (const text of [...texts, million("token='") + '"', million('token="').replaceAll('"', "\\'")]) {
      const before = process.cpuUsage();
      known.mask(text);
      const { user, system } = process.cpuUsage(before);
      // The processor's time, as the clock's depends on what else the machine does; quadratic time would be minutes.
      expect((user + system) / 1_000, text.slice(0, 20)).to.be.lessThan(1_000);
    }
  });

  describe('known values', () => {
    it('are hidden wherever they stand, also as JSON and URLs spell them', () => {
      const masker = new Masker();
      masker.remember('pa"ss wörd/1');
      expect(masker.mask('x pa"ss wörd/1 y')).to.equal('x pa"s**** y');
      expect(masker.mask(JSON.stringify({ a: 'pa"ss wörd/1' }))).to.equal('{"a":"pa****"}');
      expect(masker.mask(`/x/${encodeURIComponent('pa"ss wörd/1')}/y`)).to.equal('/x/pa%2****/y');
    });

    it('are hidden until everybody who remembered them has forgotten', () => {
      const masker = new Masker();
      const [first, second] = [masker.remember('marzipan'), masker.remember('marzipan')];
      first();
      first();
      expect(masker.mask('eat marzipan')).to.equal('eat ****');
      second();
      expect(masker.mask('eat marzipan')).to.equal('eat marzipan');
    });

    it('are hidden whole when one is part of another', () => {
      const masker = new Masker();
      masker.remember('abcdefgh');
      masker.remember('abcdefghijkl');
      expect(masker.mask('abcdefghijkl')).to.equal('abcd****');
    });

    it('of fewer than 6 characters are not searched for', () => {
      const masker = new Masker();
      masker.remember('the');
      masker.see('cat');
      expect(masker.mask('the cat')).to.equal('the cat');
    });

    it('that were only seen give way to a thousand newer ones', () => {
      const masker = new Masker();
      masker.see('first-value');
      for (let index = 0; index < 999; index += 1) masker.see(`value-number-${index}`);
      expect(masker.mask('first-value')).to.equal('firs****');
      masker.see('one-more-value');
      expect(masker.mask('first-value')).to.equal('first-value');
    });
  });
});

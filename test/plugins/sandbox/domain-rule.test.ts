import { expect } from 'chai';
import { domainRule, domainText } from '../../../plugins/sandbox/domain-rule.ts';

describe('an entry of the http whitelist', () => {
  const accepted: readonly (readonly [string, string])[] = [
    ['api.example.com', 'api.example.com'],
    ['API.Example.com', 'api.example.com'],
    ['*.Example.com', '*.example.com'],
    ['example.com.', 'example.com'],
    ['h.test:8443', 'h.test:8443'],
    ['*.h.test:443', '*.h.test:443'],
    ['localhost', 'localhost'],
    ['127.0.0.1:80', '127.0.0.1:80'],
    ['127.1', '127.0.0.1'],
    ['[::1]:8080', '[::1]:8080'],
    ['[0:0:0:0:0:0:0:1]', '[::1]'],
    ['bücher.example', 'xn--bcher-kva.example'],
  ];
  for (const [given, stored] of accepted) {
    it(`is stored as ${stored} when it is given as ${given}`, () => expect(domainText(domainRule(given))).to.equal(stored));
  }

  const refused = [
    '*',
    '*.',
    '*.*',
    '*example.com',
    'a.*.com',
    '**.x',
    '*.127.0.0.1',
    '*.[::1]',
    'http://x.test',
    'https://x.test/',
    'x.test/path',
    'a b.test',
    'user@x.test',
    'x.test?q',
    'x.test#f',
    'x.test:0',
    'x.test:65536',
    'x.test:',
    'x.test:http',
    ':80',
    'x..test',
    '%2e',
    'a_b.test',
    '1.2.3.4.5',
    '[::1',
    'x.test:80:80',
    'x\\y',
    '.example.com',
  ];
  for (const value of refused) {
    it(`is refused when it is ${value}`, () => expect(() => domainRule(value)).to.throw(/^value /));
  }
});

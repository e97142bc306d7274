/** Which addresses tools' requests really reach: real sockets, and the kernel's own word for where they lead. */
import { expect } from 'chai';
import fc from 'fast-check';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isIP } from 'node:net';
import type { Disposer } from '../../../kernel/index.ts';
import { systemClock } from '../../../kernel/index.ts';
import { addressesOf } from '../../../plugins/outside/contract.ts';
import { createHttp } from '../../../plugins/outside/http.ts';
import { judgeUrl } from '../../../plugins/sandbox/judge-url.ts';
import { privateRule } from '../../../plugins/sandbox/private-rule.ts';
import { testRun } from './tool-run.ts';

/** The one address of loopback that is on the list; each of the others reaches the same server. */
const LISTED = '127.0.0.2';

describe('a request of a tool', function () {
  this.timeout(120_000);

  it('reaches only addresses that the list opens, by the word of the kernel, for random URLs, names and redirects', async function () {
    if (process.platform !== 'linux') this.skip();
    const reached: string[] = [];
    let redirectTo = '';
    const server = createServer((request, response) => {
      reached.push(request.socket.localAddress ?? '');
      const isAgain = request.url === '/again';
      response.writeHead(isAgain ? 302 : 200, isAgain ? { location: redirectTo } : {}).end();
    });
    await new Promise<void>((resolve) => void server.listen(0, '::', resolve));
    const { port } = server.address() as AddressInfo;
    const undo: Disposer[] = [];
    let names: Readonly<Record<string, readonly string[]>> = {};
    const http = createHttp(
      { clock: systemClock(), own: (_label, disposer) => (undo.push(disposer), disposer) },
      {
        lookup(hostname, _, done) {
          const found = names[hostname] ?? ['127.0.0.9'];
          done(
            null,
            found.map((address) => ({ address, family: isIP(address) })),
          );
        },
      },
    );
    const rules = {
      allowed: ['ok.test', '*.ok.test', LISTED, 'localhost', '[::1]', '127.0.0.3'],
      readPolicy: 'whitelist',
      allowedPrivate: [privateRule(LISTED)],
      isOwn: () => false,
    } as const;
    const address = fc.constantFrom(
      LISTED,
      LISTED,
      LISTED,
      '127.0.0.1',
      '127.0.0.3',
      '::1',
      '::ffff:127.0.0.2',
      '::ffff:127.0.0.1',
      '0.0.0.0',
    );
    const addresses = fc.array(address, { minLength: 1, maxLength: 3 });
    const dns = fc.record({ 'ok.test': addresses, 'a.ok.test': addresses, localhost: addresses, 'evil.test': addresses });
    const spellings =
      `ok.test ok.test a.ok.test OK.test. localhost evil.test ${LISTED} 127.0.0.1 127.1 0x7f000001 0x7f000002 2130706434 017700000002 ` +
      '[::1] [::ffff:127.0.0.2] [::ffff:7f00:1] 0.0.0.0 0 [::]';
    const host = fc.constantFrom(...spellings.split(' '));
    const url = fc
      .tuple(
        fc.constantFrom('', '', '', 'ok.test@', `${LISTED}:80@`),
        host,
        fc.constantFrom('/again', '/again', '/', '\\@ok.test/', '#@ok.test'),
      )
      .map(([user, name, rest]) => `http://${user}${name}:${port}${rest}`);
    let arrived = 0;
    try {
      await fc.assert(
        fc.asyncProperty(url, url, dns, async (first, second, found) => {
          names = found;
          redirectTo = second;
          reached.length = 0;
          const test = testRun((claim) => judgeUrl({ text: claim.value, access: 'read', addresses: addressesOf(claim) }, rules));
          await http
            .send({ method: 'GET', url: first }, test.run, async ({ body }) => {
              for await (const _piece of body) continue;
            })
            .catch(() => undefined);
          arrived += reached.length;
          for (const each of reached) expect(each.replace('::ffff:', ''), `${first} and then ${second}`).to.equal(LISTED);
        }),
        { numRuns: 400 },
      );
    } finally {
      for (const disposer of undo) await disposer();
      server.closeAllConnections();
      await new Promise((resolve) => void server.close(resolve));
    }
    expect(arrived).to.be.greaterThan(30);
  });
});

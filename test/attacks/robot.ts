/** Channels of the corpus with a receiver on the loopback interface behind their URLs. */
import { expect } from 'chai';
import { createHmac } from 'node:crypto';
import type { Plugin, ToolResult } from '../../kernel/index.ts';
import { createRegisteredHttp } from '../../plugins/outside/registered-http.ts';
import type { Lookup } from '../../plugins/outside/registered-dialer.ts';
import type { TestHost } from '../harness/index.ts';
import type { ReceivedRequest, Receiver } from '../harness/receiver.ts';
import type { AttackCase } from './corpus.ts';
import { listOf } from './corpus.ts';
import type { Meanings } from './placeholders.ts';
import { filled } from './placeholders.ts';

/** Where the receivers of the corpus stand. */
const SITE = 'http://www.example.test';

/** The case with the robot in the place of that site, and its placeholders filled in. */
export const withRobot = (testCase: AttackCase, { origin }: Receiver, meanings: Meanings): AttackCase =>
  filled(JSON.parse(JSON.stringify(testCase).replaceAll(SITE, origin)), meanings) as AttackCase;

/** Makes the providers and channels of a set-up through the API. */
export async function makeParts(host: Pick<TestHost, 'request'>, setup: AttackCase['setup']): Promise<void> {
  const parts = [
    ['/api/v1/providers', setup['providers']],
    ['/api/v1/notify-channels', setup['notify']],
  ] as const;
  for (const [path, bodies] of parts) {
    for (const body of listOf(bodies as object | undefined)) {
      const { status, text } = await host.request('POST', path, body);
      expect(status, text).to.equal(200);
    }
  }
}

/** Whether the message carries the signature that this secret makes. */
export function isSignedWith(secret: string, { headers, text }: ReceivedRequest): boolean {
  const stamp = String(headers['x-oryx-timestamp']);
  const hex = createHmac('sha256', secret).update(`${stamp}.${text}`).digest('hex');
  return headers['x-oryx-signature'] === `sha256=${hex}`;
}

/** The plugin `outside`, or one made from it, whose registered URLs find their addresses by `lookup`; they are dialled for real. */
export const withLookup = (outside: Plugin, lookup: Lookup): Plugin => ({
  ...outside,
  setup(ctx) {
    const provide = (name: string, service: object): unknown =>
      ctx.provide(name as never, { ...service, ...(name === 'outside' && { registered: createRegisteredHttp(ctx, lookup) }) } as never);
    return outside.setup(Object.create(ctx, { provide: { value: provide } }) as typeof ctx);
  },
});

/** A lookup that knows these names and notes each that it is asked for. */
export function namesAs(addresses: Readonly<Record<string, string>>, asked: string[]): Lookup {
  return (name, _options, done) => {
    asked.push(name);
    const address = addresses[name];
    if (address === undefined) return done(Object.assign(new Error('ENOTFOUND'), { code: 'ENOTFOUND' }), []);
    done(null, [{ address, family: 4 }]);
  };
}

/** What a tool said, whether it failed or not. */
export const textOf = (result: ToolResult): string => (result.success ? result.content : result.errorMessage);

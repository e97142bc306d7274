import { expect } from 'chai';
import { cutsAfter, hangsUp, type ModelReply, page, says, stalls, status } from '../../harness/model-server.ts';
import { type Chain, chained, startChain } from './chain.ts';

/** What goes wrong, at which provider, and whether its server sees a request. */
interface Trouble {
  readonly provider?: string;
  readonly reply?: ModelReply;
  readonly stepMs?: number;
}

const TROUBLES: Readonly<Record<string, Trouble>> = {
  'status 429': { reply: status(429, {}, { 'retry-after': '60' }) },
  'status 401': { reply: status(401) },
  'status 403': { reply: status(403) },
  'status 408': { reply: status(408) },
  'status 500': { reply: status(500) },
  'status 503': { reply: status(503) },
  'a refused connection': { provider: 'refused' },
  'an unknown host': { provider: 'nowhere' },
  'a server that stalls': { reply: stalls(), stepMs: 5_000 },
  'a connection that is hung up': { reply: hangsUp() },
  'a stream that is cut before the first word': { reply: cutsAfter('') },
  'a web page': { reply: page() },
  'an answer without end': { reply: says('', { finishReason: null }) },
};
const POSITIONS = [1, 2, 3] as const;

describe('the fallback of a model call', function () {
  this.timeout(60_000);
  let chain: Chain;
  before(async () => {
    const agents: Record<string, string> = {};
    for (const provider of ['own', 'refused', 'nowhere']) {
      for (const position of POSITIONS) {
        const candidates = POSITIONS.map((place) => (place === position && provider !== 'own' ? provider : `p${place}`));
        const name = `${provider}-${position}`;
        agents[name] = chained(name, candidates);
      }
    }
    chain = await startChain({ agents });
  });
  after(() => chain[Symbol.asyncDispose]());

  for (const [what, { provider = 'own', reply, stepMs = 0 }] of Object.entries(TROUBLES)) {
    for (const position of POSITIONS) {
      for (const isStreamed of [false, true]) {
        const name = `goes on after ${what} at candidate ${position}${isStreamed ? ', streaming' : ''}`;
        it(position === 3 ? name.replace('goes on', 'ends with the last failure') : name, async () => {
          chain.answering(...POSITIONS.map((place) => (place < position ? status(503) : place === position ? reply : undefined)));
          const path = `/api/v1/agents/${provider}-${position}/invoke`;
          const body = { content: 'hi' };
          const { host } = chain;
          const answer = await chain.during<Awaited<ReturnType<typeof host.stream | typeof host.request>>>(
            isStreamed ? host.stream(path, body) : host.request('POST', path, body),
            stepMs,
          );

          const events = 'events' in answer ? answer.events : [];
          const last = isStreamed ? events.at(-1)?.data : { ...answer.data, code: answer.code };
          if (position < 3) {
            expect(last.reply).to.equal(`answer of p${position + 1}`);
            const tokens = events.filter(({ event }) => event === 'token').map(({ data }) => data.delta as string);
            if (isStreamed) expect(tokens.join('')).to.equal(last.reply);
          } else {
            expect(last.code).to.equal(503);
            const message = isStreamed ? last.message : answer.message;
            expect(message).to.include(`"${provider === 'own' ? 'p3' : provider}"`);
          }

          const traceId = isStreamed ? events[0]?.data.traceId : answer.headers['x-trace-id'];
          const failing = provider === 'own' ? `p${position}` : provider;
          const expected = [...POSITIONS.slice(0, position - 1).map((place) => `p${place} failed`), `${failing} failed`];
          if (position < 3) expected.push(`p${position + 1} success`);
          expect(await chain.attempts(String(traceId))).to.deep.equal(expected);
          const asked = POSITIONS.map((place) => (expected.some((attempt) => attempt.startsWith(`p${place} `)) ? 1 : 0));
          expect(chain.asked()).to.deep.equal(asked);
        });
      }
    }
  }
});

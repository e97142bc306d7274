import { expect } from 'chai';
import type { LlmAttempt, LlmFailure, Profile } from '../../../kernel/index.ts';
import { nextAttempt } from '../../../plugins/providers/retry.ts';

const passing: LlmFailure = { kind: 'http', status: 503, retryable: true, switchable: true, message: 'm' };
const failed = (more: Partial<LlmAttempt> = {}): LlmAttempt => ({
  call: 1,
  attempt: 1,
  provider: 'p',
  model: 'm',
  outcome: 'failed',
  failure: passing,
  contentSent: false,
  startedAt: 0,
  durationMs: 0,
  ...more,
});
const agent = (more: Partial<Profile> = {}): { readonly agent: Profile } => ({
  agent: {
    name: 'a',
    description: '',
    instructions: '',
    provider: 'p',
    model: 'm',
    tools: [],
    settings: { maxIterations: 1, maxHistoryTurns: 1, timeoutMs: 1, onFatalToolError: 'return' },
    version: 'v',
    frontmatter: {},
    ...more,
  },
});
const middle = (): number => 0.5;

describe('a repeat of a failed model call', () => {
  it('asks the same provider and model again, at the same temperature', () => {
    expect(nextAttempt(failed(), agent({ temperature: 0.2 }), middle)).to.deep.equal({
      provider: 'p',
      model: 'm',
      temperature: 0.2,
      delayMs: 500,
    });
    expect(nextAttempt(failed(), agent(), middle)).to.not.have.property('temperature');
  });

  it('happens twice, the second time after twice the wait, and then no more', () => {
    expect(nextAttempt(failed({ attempt: 2 }), agent(), middle)?.delayMs).to.equal(1_000);
    expect(nextAttempt(failed({ attempt: 3 }), agent(), middle)).to.equal(undefined);
  });

  it('waits between half and one and a half times the nominal wait', () => {
    expect(nextAttempt(failed(), agent(), () => 0)?.delayMs).to.equal(250);
    expect(nextAttempt(failed(), agent(), () => 0.999_999)?.delayMs).to.equal(750);
    for (let count = 0; count < 100; count += 1) expect(nextAttempt(failed(), agent())?.delayMs).to.be.within(250, 750);
  });

  it('waits as long as the provider asks, up to 30 s, and gives up for longer', () => {
    const asked = (retryAfterMs: number) => nextAttempt(failed({ failure: { ...passing, retryAfterMs } }), agent(), middle)?.delayMs;
    expect(asked(0)).to.equal(500);
    expect(asked(7_000)).to.equal(7_000);
    expect(asked(30_000)).to.equal(30_000);
    expect(asked(30_001)).to.equal(undefined);
  });

  it('does not happen for a failure that stays', () => {
    for (const kind of ['http', 'missing', 'aborted'] as const) {
      const failure: LlmFailure = { kind, retryable: false, switchable: true, message: 'm' };
      expect(nextAttempt(failed({ failure }), agent(), middle)).to.equal(undefined);
    }
    expect(nextAttempt({ ...failed(), failure: undefined } as unknown as LlmAttempt, agent(), middle)).to.equal(undefined);
  });

  it('does not happen once text was sent', () => {
    expect(nextAttempt(failed({ contentSent: true }), agent(), middle)).to.equal(undefined);
  });

  it('does not happen for an agent that names other providers', () => {
    const provider = { name: 'p', model: 'm', fallback: [{ name: 'q', model: 'm' }] };
    expect(nextAttempt(failed(), agent({ frontmatter: { provider } }), middle)).to.equal(undefined);
    for (const none of [{ ...provider, fallback: [] }, { ...provider, fallback: null }, 'p', null]) {
      expect(nextAttempt(failed(), agent({ frontmatter: { provider: none } }), middle)?.delayMs).to.equal(500);
    }
  });
});

import { expect } from 'chai';
import type { Usage } from '../../../kernel/index.ts';
import { costMicrosOf } from '../../../plugins/pricing/cost.ts';
import type { Price } from '../../../plugins/pricing/price.ts';

const price = (more: Partial<Price> = {}): Price => ({
  provider: 'p',
  model: 'm',
  promptPrice: 2,
  completionPrice: 8,
  cachedPrice: null,
  ...more,
});
const usage = (more: Partial<Usage> = {}): Usage => ({
  promptTokens: 0,
  completionTokens: 0,
  totalTokens: null,
  cachedTokens: null,
  reasoningTokens: null,
  ...more,
});

/** Numbers that are the same in every run. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** Long multiplication of a decimal text, in sixths after the point: no code in common with what is tested. */
function exact(parts: readonly (readonly [tokens: number, price: string])[]): number {
  const millionths = parts.reduce((sum, [tokens, text]) => {
    const [whole = '0', fraction = ''] = text.split('.');
    return sum + BigInt(tokens) * BigInt(whole + fraction.padEnd(6, '0'));
  }, 0n);
  const digits = millionths.toString().padStart(7, '0');
  const [whole, rest] = [digits.slice(0, -6), digits.slice(-6)];
  return Number(BigInt(whole) + (rest >= '500000' ? 1n : 0n));
}

describe('the cost of a model call', () => {
  it('is tokens times price, in millionths of the currency unit', () => {
    expect(costMicrosOf(price(), usage({ promptTokens: 1_000, completionTokens: 500 }))).to.equal(6_000);
    expect(costMicrosOf(price({ promptPrice: 0.14, completionPrice: 0.28 }), usage({ promptTokens: 1_000_000 }))).to.equal(140_000);
    expect(costMicrosOf(price(), usage())).to.equal(0);
    expect(costMicrosOf(price({ promptPrice: 0, completionPrice: 0 }), usage({ promptTokens: 5, completionTokens: 5 }))).to.equal(0);
  });

  it('is rounded half up once, where binary fractions would go astray', () => {
    expect(costMicrosOf(price({ promptPrice: 0.29 }), usage({ promptTokens: 50 }))).to.equal(15);
    expect(costMicrosOf(price({ promptPrice: 0.1, completionPrice: 0.2 }), usage({ promptTokens: 3, completionTokens: 1 }))).to.equal(1);
    expect(costMicrosOf(price({ promptPrice: 0.4, completionPrice: 0.4 }), usage({ promptTokens: 1, completionTokens: 1 }))).to.equal(1);
    expect(costMicrosOf(price({ promptPrice: 0.000_001 }), usage({ promptTokens: 499_999 }))).to.equal(0);
    expect(costMicrosOf(price({ promptPrice: 0.000_001 }), usage({ promptTokens: 500_000 }))).to.equal(1);
  });

  it('takes cached tokens out of the prompt when they have a price of their own', () => {
    const some = usage({ promptTokens: 100, cachedTokens: 60, completionTokens: 10 });
    expect(costMicrosOf(price({ cachedPrice: 0.5 }), some)).to.equal(40 * 2 + 30 + 80);
    expect(costMicrosOf(price({ cachedPrice: 0 }), some)).to.equal(40 * 2 + 80);
    expect(costMicrosOf(price(), some)).to.equal(100 * 2 + 80);
    expect(costMicrosOf(price({ cachedPrice: 0.5 }), { ...some, cachedTokens: null })).to.equal(100 * 2 + 80);
    expect(costMicrosOf(price({ cachedPrice: 0.5 }), { ...some, cachedTokens: 1_000 })).to.equal(50 + 80);
  });

  it('does not count reasoning tokens twice', () => {
    expect(costMicrosOf(price(), usage({ completionTokens: 10, reasoningTokens: 8 }))).to.equal(80);
  });

  it('is unknown when either count is', () => {
    expect(costMicrosOf(price(), usage({ promptTokens: null }))).to.equal(null);
    expect(costMicrosOf(price(), usage({ completionTokens: null, totalTokens: 5 }))).to.equal(null);
  });

  it('equals exact arithmetic for 5 000 random prices and counts', () => {
    const random = numbers(7);
    const amount = (): string => {
      const decimals = random(7);
      return (random(10 ** (decimals + random(4))) / 10 ** decimals).toFixed(decimals);
    };
    for (let round = 0; round < 5_000; round += 1) {
      const [prompt, completion, cached] = [amount(), amount(), amount()];
      const [promptTokens, completionTokens] = [random(2_000_000), random(200_000)];
      const cachedTokens = random(promptTokens + 1);
      const cost = costMicrosOf(
        price({ promptPrice: Number(prompt), completionPrice: Number(completion), cachedPrice: Number(cached) }),
        usage({ promptTokens, completionTokens, cachedTokens }),
      );
      const wanted = exact([
        [promptTokens - cachedTokens, prompt],
        [cachedTokens, cached],
        [completionTokens, completion],
      ]);
      expect(cost, JSON.stringify({ prompt, completion, cached, promptTokens, completionTokens, cachedTokens })).to.equal(wanted);
    }
  });
});

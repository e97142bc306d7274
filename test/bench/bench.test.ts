/** The benchmark works; how fast anything is, is not judged here. */
import { expect } from 'chai';
import { bench, QUICK } from './turns.ts';

describe('the benchmark', () => {
  it('measures product and floor with the same turns and stores every one of them', async function () {
    this.timeout(120_000);
    const { compared, rows, turns } = await bench(QUICK, () => undefined);
    expect(rows['turns']).to.equal(turns);
    expect(rows['messages']).to.be.greaterThan(turns * 2);
    for (const { figure, product, floor } of compared) {
      expect(product, `${figure} of the product`).to.be.greaterThan(0);
      expect(floor, `${figure} of the floor`).to.be.greaterThan(0);
    }
    const turn = compared.find(({ figure }) => figure === 'c16 CPU ms/turn');
    expect(turn?.product, 'CPU ms of a turn').to.be.lessThan(100);
  });
});

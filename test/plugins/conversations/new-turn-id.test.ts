import { expect } from 'chai';
import { newTurnId } from '../../../plugins/conversations/new-turn-id.ts';

describe('the id of a new turn', () => {
  it('is a UUID of its own that sorts by time', () => {
    const times = [0, 1, 1_700_000_000_000, 1_700_000_000_001, 2 ** 48 - 1];
    const ids = times.map(newTurnId);
    for (const id of ids) expect(id).to.match(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(ids.toSorted()).to.deep.equal(ids);
    expect(new Set(Array.from({ length: 1_000 }, () => newTurnId(1)))).to.have.property('size', 1_000);
  });
});

import { expect } from 'chai';
import { isInRange } from '../../../plugins/loader/version-range.ts';

const CASES: readonly (readonly [range: string, inside: string, outside: string])[] = [
  ['^1.2.3', '1.2.3 1.9.0', '1.2.2 2.0.0 0.9.9'],
  ['^0.1.0', '0.1.0 0.1.9', '0.2.0 0.0.9 1.0.0'],
  ['^0.0.3', '0.0.3', '0.0.4 0.1.0'],
  ['^0', '0.0.0 0.9.9', '1.0.0'],
  ['^1', '1.0.0 1.99.99', '2.0.0 0.9.9'],
  ['~1.2.3', '1.2.3 1.2.9', '1.3.0 1.2.2'],
  ['~1', '1.0.0 1.9.9', '2.0.0'],
  ['>=1.2 <3', '1.2.0 2.9.9', '1.1.9 3.0.0'],
  ['>= 1.2   < 3', '1.2.0 2.9.9', '1.1.9 3.0.0'],
  ['>1', '2.0.0', '1.9.9 1.0.0'],
  ['>1.2.3', '1.2.4', '1.2.3'],
  ['<=1.2', '1.2.9 0.1.0', '1.3.0'],
  ['<0.2', '0.1.9', '0.2.0'],
  ['1.x', '1.0.0 1.9.9', '2.0.0'],
  ['1.2.*', '1.2.0 1.2.9', '1.3.0'],
  ['1.2.3', '1.2.3', '1.2.4'],
  ['=1.2.3', '1.2.3', '1.2.4'],
  ['v1.2.3', '1.2.3', '1.2.4'],
  ['1.2 - 2.0', '1.2.0 2.0.9', '1.1.9 2.1.0'],
  ['^0.1 || ^1', '0.1.5 1.5.0', '0.2.0 2.0.0'],
  ['*', '0.0.0 9.9.9', ''],
  ['', '0.0.0 9.9.9', ''],
  ['^1.2.3-beta.1', '1.2.3', '1.2.2'],
];

describe('ranges of versions', () => {
  for (const [range, inside, outside] of CASES) {
    it(`"${range}" covers what npm says it covers`, () => {
      for (const version of inside.split(' ').filter(Boolean)) expect(isInRange(version, range), version).to.equal(true);
      for (const version of outside.split(' ').filter(Boolean)) expect(isInRange(version, range), version).to.equal(false);
    });
  }

  it('that are none are told apart from those that do not fit', () => {
    for (const range of ['workspace:*', 'latest', 'https://example.com/x.tgz', '1.2.3.4', '^1 || nonsense'])
      expect(isInRange('1.0.0', range), range).to.equal(undefined);
    expect(isInRange('nonsense', '*')).to.equal(undefined);
  });

  it('take a prerelease of the host for the version that it is going to be', () => {
    expect(isInRange('1.2.0-rc.1', '^1.2.0')).to.equal(true);
  });
});

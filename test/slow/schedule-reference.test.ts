import { expect } from 'chai';
import { changesOf, difference, randomExpression, randomFrom, windowAround } from '../plugins/schedules/reference.ts';

const ZONES = ['America/New_York', 'Europe/London', 'Australia/Lord_Howe', 'Asia/Shanghai'];
const HOURS = 3600;

describe('schedules beside a model that looks at every second, at length', function () {
  this.timeout(20 * 60_000);
  const kept = process.env['TZ'];
  after(() => {
    if (kept === undefined) delete process.env['TZ'];
    else process.env['TZ'] = kept;
  });

  for (const [run, home] of ['UTC', 'Asia/Shanghai', 'Australia/Sydney'].entries()) {
    it(`on a server in ${home}: 200 random expressions agree around every change of clocks of three years and on random days`, () => {
      process.env['TZ'] = home;
      const random = randomFrom(7_919 * (run + 1));
      const expressions = Array.from({ length: 200 }, () => randomExpression(random));
      const differences = ZONES.flatMap((zone) => {
        const days = Array.from({ length: 6 }, () => Date.UTC(2026, random(36), 1 + random(28), random(24)));
        return [...changesOf(zone, [2026, 2027, 2028]), ...days]
          .map((at) => windowAround(zone, at, 8 * HOURS))
          .flatMap((window) => expressions.flatMap((expression) => difference(window, expression) ?? []));
      });
      expect(differences).to.deep.equal([]);
    });
  }
});

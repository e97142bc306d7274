import { expect } from 'chai';
import { cronExpression } from '../../../plugins/schedules/cron-expression.ts';
import { nextFire } from '../../../plugins/schedules/next-fire.ts';
import { timeZone } from '../../../plugins/schedules/time-zone.ts';
import { TEST_MS } from './fixture.ts';
import { changesOf, difference, randomExpression, randomFrom, referenceFires, type Window, windowAround } from './reference.ts';

const ZONES = ['America/New_York', 'Europe/London', 'Australia/Lord_Howe', 'Asia/Shanghai'];
const EXPRESSIONS = 200;
const HOURS = 3600;

describe('when a schedule fires, beside a model that looks at every second', function () {
  this.timeout(TEST_MS);
  const random = randomFrom(20_261_130);
  const expressions = Array.from({ length: EXPRESSIONS }, () => randomExpression(random));

  for (const zone of ZONES) {
    it(`${zone}: ${EXPRESSIONS} random expressions agree around a change of clocks and on a random day`, () => {
      const changes = changesOf(zone, [2026, 2027, 2028]);
      expect(changes).to.have.length(zone === 'Asia/Shanghai' ? 0 : 6);
      const windows: Window[] = [
        ...changes.map((at) => windowAround(zone, at, 1.5 * HOURS)),
        windowAround(zone, Date.UTC(2026, random(36), 1 + random(28), random(24)), 3 * HOURS),
      ];
      const differences = expressions.flatMap(
        (expression) => difference(windows[random(windows.length)] ?? windowAround(zone, 0, 1), expression) ?? [],
      );
      expect(differences).to.deep.equal([]);
    });
  }

  it('gives the same next instant wherever in between a server is started again', () => {
    for (const zone of ZONES.slice(0, 3)) {
      const window = windowAround(zone, changesOf(zone, [2027])[random(2)] ?? 0, 2 * HOURS);
      for (const expression of expressions.slice(0, 10)) {
        const fires = referenceFires(window, expression);
        const end = window.from + window.shown.length;
        for (let at = window.from; at < end; at += 37) {
          const next = (nextFire(cronExpression(expression.text), timeZone(zone), at * 1000)?.at ?? Number.POSITIVE_INFINITY) / 1000;
          const expected = fires.find((fire) => fire > at);
          expect(next < end ? next : undefined, `"${expression.text}" in ${zone} after ${new Date(at * 1000).toISOString()}`).to.equal(
            expected,
          );
        }
      }
    }
  });
});

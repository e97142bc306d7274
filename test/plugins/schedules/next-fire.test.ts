import { expect } from 'chai';
import { cronExpression } from '../../../plugins/schedules/cron-expression.ts';
import { nextFire } from '../../../plugins/schedules/next-fire.ts';
import { slotsBetween } from '../../../plugins/schedules/slots.ts';
import { timeZone } from '../../../plugins/schedules/time-zone.ts';

const START = '2026-11-30T00:00:00Z';

/** The next `count` instants, with "gap" or "repeat" behind those that it concerns. */
function fires(cron: string, { zone = 'UTC', after = START, count = 1 }: { zone?: string | null; after?: string; count?: number } = {}) {
  const found: string[] = [];
  for (let from = Date.parse(after); found.length < count; ) {
    const fire = nextFire(cronExpression(cron), timeZone(zone), from);
    if (fire === undefined) break;
    found.push(`${new Date(fire.at).toISOString().slice(0, 19)}${fire.dst === null ? '' : ` ${fire.dst}`}`);
    from = fire.at;
  }
  return found;
}

describe('when a schedule fires', () => {
  const vectors: Readonly<Record<string, readonly string[]>> = {
    '0 0 9 * * MON-FRI': ['2026-11-30T09:00:00'],
    '0 0 0 L * *': ['2026-12-31T00:00:00', '2027-01-31T00:00:00', '2027-02-28T00:00:00'],
    '0 0 0 L-3 * *': ['2026-12-28T00:00:00', '2027-01-28T00:00:00', '2027-02-25T00:00:00'],
    '0 0 0 ? * MON#1': ['2026-12-07T00:00:00', '2027-01-04T00:00:00'],
    '0 0 0 ? * 5#2': ['2026-12-11T00:00:00'],
    '0 0 0 ? * FRIL': ['2026-12-25T00:00:00', '2027-01-29T00:00:00'],
    '0 0 0 13 * FRI': ['2027-08-13T00:00:00'],
    '0 5/20 * * * *': ['2026-11-30T00:05:00', '2026-11-30T00:25:00', '2026-11-30T00:45:00'],
    '0 9 * * *': ['2026-11-30T09:00:00'],
    '0 0 0 LW * *': ['2026-12-31T00:00:00', '2027-01-29T00:00:00'],
    '0 0 0 31W * *': ['2026-12-31T00:00:00', '2027-01-29T00:00:00', '2027-03-31T00:00:00', '2027-05-31T00:00:00'],
    '0 0 0 L,15 * *': ['2026-12-15T00:00:00', '2026-12-31T00:00:00'],
    '0 0 0 ? * SUN-TUE': ['2026-12-01T00:00:00', '2026-12-06T00:00:00', '2026-12-07T00:00:00'],
    '0 0 0 ? * FRI-SUN': ['2026-12-04T00:00:00', '2026-12-05T00:00:00', '2026-12-06T00:00:00', '2026-12-11T00:00:00'],
    '0 0 0 ? * 7-2': ['2026-12-01T00:00:00', '2026-12-06T00:00:00', '2026-12-07T00:00:00'],
    '0 0 0 ? * */2': ['2026-12-02T00:00:00', '2026-12-04T00:00:00', '2026-12-06T00:00:00', '2026-12-07T00:00:00'],
    '0 0 0 ? * 0,7': ['2026-12-06T00:00:00', '2026-12-13T00:00:00'],
    '0 0 0 1 jan,JUL ?': ['2027-01-01T00:00:00', '2027-07-01T00:00:00'],
    '0-58 59 23 31 12 *': ['2026-12-31T23:59:00', '2026-12-31T23:59:01'],
    '59 59 0-22 31 12 *': ['2026-12-31T00:59:59', '2026-12-31T01:59:59'],
    '0 0 0 29 2 *': ['2028-02-29T00:00:00', '2032-02-29T00:00:00'],
    '0 0 0 29 2 MON': ['2044-02-29T00:00:00', '2072-02-29T00:00:00', '2112-02-29T00:00:00'],
    '@yearly': ['2027-01-01T00:00:00'],
    '@annually': ['2027-01-01T00:00:00'],
    '@monthly': ['2026-12-01T00:00:00'],
    '@weekly': ['2026-12-06T00:00:00'],
    '@daily': ['2026-12-01T00:00:00'],
    '@Midnight': ['2026-12-01T00:00:00'],
    '@hourly': ['2026-11-30T01:00:00'],
  };
  for (const [cron, expected] of Object.entries(vectors)) {
    it(`${cron} fires as Spring says`, () => {
      expect(fires(cron, { count: expected.length })).to.deep.equal(expected);
    });
  }

  it('1W of a month that begins on a Saturday is its first Monday', () => {
    expect(fires('0 0 0 1W * *', { after: '2026-07-31T00:00:00Z' })).to.deep.equal(['2026-08-03T00:00:00']);
  });

  it('is strictly after the instant, also between two seconds', () => {
    expect(fires('0 * * * * *', { after: '2026-11-30T00:01:00Z' })).to.deep.equal(['2026-11-30T00:02:00']);
    expect(fires('0 * * * * *', { after: '2026-11-30T00:00:59.999Z' })).to.deep.equal(['2026-11-30T00:01:00']);
  });

  it('answers within milliseconds for what never fires', () => {
    const never = ['0 0 0 30 2 *', '0 0 0 31 4,6,9,11 *', '0 0 0 31 11 MON#1', '0 0 0 L-30 2 *'];
    for (const cron of never) cronExpression(cron);
    const before = performance.now();
    for (const cron of never) expect(fires(cron, { zone: 'America/New_York' })).to.deep.equal([]);
    expect(performance.now() - before).to.be.below(100);
  });

  const inNewYork = { zone: 'America/New_York' };
  it('fires once, right after the gap, what clocks leave out', () => {
    const gap = { ...inNewYork, after: '2027-03-14T05:00:00Z' };
    expect(fires('0 30 2 * * *', { ...gap, count: 2 })).to.deep.equal(['2027-03-14T07:00:00 gap', '2027-03-15T06:30:00']);
    expect(fires('0 */20 2 * * *', { ...gap, count: 2 })).to.deep.equal(['2027-03-14T07:00:00 gap', '2027-03-15T06:00:00']);
    expect(fires('0 0 * * * *', { ...gap, count: 3 })).to.deep.equal([
      '2027-03-14T06:00:00',
      '2027-03-14T07:00:00 gap',
      '2027-03-14T08:00:00',
    ]);
    const lordHowe = { zone: 'Australia/Lord_Howe', after: '2026-10-03T14:00:00Z', count: 2 };
    expect(fires('0 15 2 * * *', lordHowe)).to.deep.equal(['2026-10-03T15:30:00 gap', '2026-10-04T15:15:00']);
    const sydney = { zone: 'Australia/Sydney', after: '2026-10-03T14:00:00Z' };
    expect(fires('0 30 2 * * *', sydney)).to.deep.equal(['2026-10-03T16:00:00 gap']);
  });

  it('fires a fixed hour once when it comes twice, wherever the search begins', () => {
    const expected = ['2026-11-01T05:30:00 repeat', '2026-11-02T06:30:00'];
    expect(fires('0 30 1 * * *', { ...inNewYork, after: '2026-11-01T04:00:00Z', count: 2 })).to.deep.equal(expected);
    expect(fires('0 30 1 * * *', { ...inNewYork, after: '2026-11-01T06:10:00Z' })).to.deep.equal(['2026-11-02T06:30:00']);
  });

  it('fires an interval every real time', () => {
    expect(fires('0 0 * * * *', { ...inNewYork, after: '2026-11-01T04:30:00Z', count: 4 })).to.deep.equal([
      '2026-11-01T05:00:00 repeat',
      '2026-11-01T06:00:00 repeat',
      '2026-11-01T07:00:00',
      '2026-11-01T08:00:00',
    ]);
    expect(fires('0 */15 * * * *', { zone: 'Australia/Lord_Howe', after: '2027-04-03T14:40:00Z', count: 4 })).to.deep.equal([
      '2027-04-03T14:45:00 repeat',
      '2027-04-03T15:00:00 repeat',
      '2027-04-03T15:15:00 repeat',
      '2027-04-03T15:30:00',
    ]);
  });

  it('knows zones by offset and by name', () => {
    for (const zone of ['+08:00', 'UTC+8', 'GMT+8', '+8', 'Asia/Shanghai']) {
      expect(fires('0 0 9 * * *', { zone }), zone).to.deep.equal(['2026-11-30T01:00:00']);
    }
    expect(fires('0 0 9 * * *', { zone: '-03:30' })).to.deep.equal(['2026-11-30T12:30:00']);
    expect(fires('0 0 9 * * *', { zone: 'Z' })).to.deep.equal(['2026-11-30T09:00:00']);
  });

  it('passes over a day that a zone has left out', () => {
    const apia = { zone: 'Pacific/Apia', after: '2011-12-29T12:00:00Z', count: 2 };
    expect(fires('0 0 9 * * *', apia)).to.deep.equal(['2011-12-29T19:00:00', '2011-12-30T10:00:00 gap']);
  });

  describe('on a server in another zone', () => {
    const kept = process.env['TZ'];
    afterEach(() => {
      if (kept === undefined) delete process.env['TZ'];
      else process.env['TZ'] = kept;
    });
    for (const zone of ['UTC', 'Asia/Shanghai', 'Australia/Sydney', 'America/New_York']) {
      it(`${zone}: gives the same for named zones, and its own time for none`, () => {
        process.env['TZ'] = zone;
        expect(fires('0 30 2 * * *', { ...inNewYork, after: '2027-03-14T05:00:00Z' })).to.deep.equal(['2027-03-14T07:00:00 gap']);
        expect(fires('0 30 1 * * *', { ...inNewYork, after: '2026-11-01T04:00:00Z' })).to.deep.equal(['2026-11-01T05:30:00 repeat']);
        expect(fires('0 0 0 L * *')).to.deep.equal(['2026-12-31T00:00:00']);
        expect(fires('0 0 9 * * *', { zone: null })).to.deep.equal(fires('0 0 9 * * *', { zone }));
      });
    }
  });

  it('counts slots of any stretch at once, over changes of clocks too', () => {
    const count = (cron: string, zone: string, from: string, to: string): number =>
      slotsBetween(cronExpression(cron), timeZone(zone), Date.parse(from), Date.parse(to))?.count ?? 0;
    const year = ['2026-01-01T05:00:00Z', '2027-01-01T05:00:00Z'] as const;
    const before = performance.now();
    expect(count('* * * * * *', 'America/New_York', ...year)).to.equal(365 * 86_400);
    expect(performance.now() - before).to.be.below(500);
    expect(count('0 30 1 * * *', 'America/New_York', ...year)).to.equal(365);
    expect(count('0 30 2 * * *', 'America/New_York', ...year)).to.equal(365);
    expect(
      slotsBetween(cronExpression('0 */10 * * * *'), timeZone('UTC'), Date.parse(START), Date.parse(START) + 55 * 60_000),
    ).to.deep.equal({
      count: 5,
      first: Date.parse(START) + 600_000,
      last: Date.parse(START) + 3_000_000,
    });
  });
});

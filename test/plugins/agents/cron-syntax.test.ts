import { expect } from 'chai';
import { cronProblem, isZone } from '../../../plugins/agents/contract.ts';

describe('cron syntax', () => {
  for (const valid of [
    '0 0 9 * * MON-FRI',
    '0 0 0 L * *',
    '0 0 0 L-3 * *',
    '0 0 0 ? * MON#1',
    '0 0 0 ? * 5#2',
    '0 0 0 ? * FRIL',
    '0 0 0 13 * FRI',
    '0 5/20 * * * *',
    '0 0 0 1W * *',
    '0 0 0 LW * *',
    '0 0 0 1,L * ?',
    '0 0 0 ? * MON#1,FRIL',
    '0 9 * * *',
    '*/5 * * * *',
    '*/10 0-30/5 8,9,17-19 ? JAN,mar-Jun 0-7',
    '0 0 0 ? * SUN-TUE',
    '0 0 0 ? * 7-2',
    '0 0 0 30 2 *',
    '  0   0 9 * * *  ',
    '@daily',
    '@MIDNIGHT',
    '@yearly',
    '@annually',
    '@monthly',
    '@weekly',
    '@hourly',
  ]) {
    it(`accepts "${valid}"`, () => expect(cronProblem(valid)).to.equal(undefined));
  }

  for (const [invalid, words] of [
    ['', '6 fields'],
    ['* * * *', 'this one has 4'],
    ['0 0 9 * * * 2026', 'this one has 7'],
    ['99 0 9 * * *', 'field "second": "99" is not between 0 and 59'],
    ['60 * * * *', 'field "minute"'],
    ['0 0 24 * * *', 'field "hour"'],
    ['0 0 0 0 * *', 'field "day of month"'],
    ['0 0 0 32 * *', 'field "day of month"'],
    ['0 0 0 * 13 *', 'field "month"'],
    ['0 0 0 * FOO *', 'JAN'],
    ['0 0 0 * * 8', 'field "day of week"'],
    ['0 0 0 * * L', 'needs a day before it'],
    ['0 0 0 * * XXXL', 'not a day of the week'],
    ['0 0 0 * * MON#0', 'between 1 and 5'],
    ['0 0 0 * * MON#6', 'between 1 and 5'],
    ['0 0 0 * * 9#1', 'not a day of the week'],
    ['0 0 0 L-0 * *', 'between 1 and 30'],
    ['0 0 0 L-31 * *', 'between 1 and 30'],
    ['0 0 0 32W * *', 'between 1 and 31'],
    ['0 0 0 WL * *', 'field "day of month"'],
    ['0 0 22-2 * * *', 'runs backwards'],
    ['0 0 0 ? * FRI-MON', 'runs backwards'],
    ['0 */0 * * * *', 'above 0'],
    ['0 5/ * * * *', 'above 0'],
    ['0 5/1/2 * * * *', 'more than one'],
    ['0 1-2-3 * * * *', 'not a range'],
    ['? 0 0 * * *', 'only for day'],
    ['0 1, * * * *', 'empty list item'],
    ['0 -1 * * * *', 'field "minute"'],
    ['0 1.5 * * * *', 'field "minute"'],
    ['0 0 0 * * *L', '"*L"'],
    ['@reboot', 'is not one of'],
    ['every day', 'this one has 2'],
    [`0 ${'1,'.repeat(30)}99 * * * *`, '"99"'],
  ] as const) {
    it(`refuses "${invalid.slice(0, 30)}"`, () => expect(cronProblem(invalid)).to.include(words));
  }
});

describe('time zones', () => {
  it('are IANA names and offsets', () => {
    for (const zone of [
      'UTC',
      'GMT',
      'Z',
      'Asia/Shanghai',
      'America/New_York',
      'Australia/Lord_Howe',
      '+08:00',
      '-0330',
      'UTC+8',
      'GMT-11:30',
    ]) {
      expect(isZone(zone), zone).to.equal(true);
    }
  });

  it('are nothing else', () => {
    for (const zone of ['Mars/X', 'local time', '+25:00', '+08:75', 'UTC+', '8', '', ' UTC', '../etc'])
      expect(isZone(zone), zone).to.equal(false);
  });
});

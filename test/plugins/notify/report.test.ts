import { expect } from 'chai';
import type { OutboxMessage } from '../../../plugins/notify/contract.ts';
import { dingtalkRobot, feishuRobot, type Robot, wecomRobot } from '../../adapters/notify/robots.ts';
import { fakeClock, startHost, type TestHost } from '../../harness/index.ts';
import { startReceiver } from '../../harness/receiver.ts';

const KEY = '693a91f6-7bb0-4bc4-97a0-0ec2acfa5aaa';
const SECRET = 'SECreport-0123456789';
const BYTES = 100_000;

/** Prose in two scripts, a table, code, one very long line, and characters that JSON escapes: of 100 kB in all. */
function report(): string {
  const prose = (index: number): string => `${index}. The build of "core" took 12\tseconds; 构建完成，没有错误 🦌 C:\\builds\\${index}\n`;
  const table = `| host | load |\n|---|---|\n${Array.from({ length: 20 }, (_, row) => `| web-${row} | ${row}% |\n`).join('')}\n`;
  const code = '```json\n{"a": "\\u0007", "b": [1, 2]}\n```\n';
  let text = `# Report\n\n${table}${'长'.repeat(3_000)}\n${code}`;
  for (let index = 1; Buffer.byteLength(text) < BYTES; index += 1) text += prose(index) + (index % 50 === 0 ? table : '');
  return text;
}

describe('a report of 100 kB', function () {
  this.timeout(60_000);

  const clock = fakeClock();
  const now = (): number => clock.now();
  const minute = { count: 20, perMs: 60_000 };
  const channels: Readonly<
    Record<string, { readonly path: string; readonly config: object; readonly robot: Robot; readonly parts: number }>
  > = {
    feishu: {
      path: `/open-apis/bot/v2/hook/${KEY}`,
      config: { secret: SECRET },
      robot: feishuRobot({
        now,
        secret: SECRET,
        rates: [
          { count: 100, perMs: 60_000 },
          { count: 5, perMs: 1_000 },
        ],
      }),
      parts: 6,
    },
    wecom: { path: `/cgi-bin/webhook/send?key=${KEY}`, config: {}, robot: wecomRobot({ now, key: KEY, rates: [minute] }), parts: 50 },
    dingtalk: {
      path: `/robot/send?access_token=${KEY}`,
      config: { secret: SECRET },
      robot: dingtalkRobot({ now, secret: SECRET, rates: [minute] }),
      parts: 6,
    },
  };

  for (const [type, { path, config, robot, parts }] of Object.entries(channels)) {
    it(`comes through ${type} with every byte, in order, in parts that it takes, within its limits`, async () => {
      const taken: string[] = [];
      const refusals: string[] = [];
      await using receiver = await startReceiver((request) => {
        const { content, reply } = robot(request);
        if (content !== undefined) taken.push(content);
        else refusals.push(JSON.stringify(reply));
        return reply;
      });
      await using host = await startHost({ clock });
      const channel = { name: 'team', type, url: `${receiver.origin}${path}`, config };
      expect((await host.request('POST', '/api/v1/notify-channels', channel)).status).to.equal(200);
      const content = report();
      await host.kernel.service('notifications').submit({ channel: 'team', content, key: `report ${type}`, traceId: 'trace-1' });

      const message = await ended(host);

      expect(message, refusals.join('\n')).to.include({ state: 'delivered', error: null, errorCode: null });
      expect(taken.join('')).to.equal(content);
      expect(taken).to.have.length(message.parts);
      expect(message.parts).to.be.within(parts, Math.ceil(parts * 1.3));
      expect(taken.slice(0, -1).filter((part) => !part.endsWith('\n') && !part.endsWith('长'))).to.deep.equal([]);
      expect(refusals.filter((text) => !/45009|11232|130101/.test(text))).to.deep.equal([]);
    });
  }

  /** Lets time pass whenever the message waits, and never while an attempt is under way. */
  async function ended(host: TestHost): Promise<OutboxMessage> {
    for (let round = 0; round < 5_000; round += 1) {
      const [message] = await host.kernel.service('notifications').ofTrace('trace-1');
      if (message?.endedAt !== null && message !== undefined) return message;
      await (message?.state === 'sending' ? new Promise(setImmediate) : clock.tick(200));
    }
    throw new Error('it did not end');
  }
});

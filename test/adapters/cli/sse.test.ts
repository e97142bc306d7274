import { expect } from 'chai';
import { readEvents } from '../../../adapters/cli/sse.ts';
import type { StreamEvent } from '../../../adapters/cli/sse.ts';

async function eventsOf(...chunks: readonly (string | Uint8Array)[]): Promise<readonly StreamEvent[]> {
  async function* bytes(): AsyncGenerator<Uint8Array> {
    for (const chunk of chunks) yield typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
  }
  const events: StreamEvent[] = [];
  for await (const event of readEvents(bytes())) events.push(event);
  return events;
}

describe('the reader of server-sent events', () => {
  const two = 'id: 1\nevent: token\ndata: {"delta":"héllo"}\n\n: ping\n\nevent: done\ndata: {"reply":"héllo"}\n\n';
  const both = [
    { event: 'token', data: { delta: 'héllo' } },
    { event: 'done', data: { reply: 'héllo' } },
  ];

  it('reads events and skips comments and ids', async () => {
    expect(await eventsOf(two)).to.deep.equal(both);
  });

  it('reads the same whatever the chunks, also when one cuts a character', async () => {
    const bytes = Buffer.from(two);
    expect(await eventsOf(...Array.from(bytes, (_, index) => bytes.subarray(index, index + 1)))).to.deep.equal(both);
  });

  it('accepts CRLF, a missing blank after the colon, and several data lines', async () => {
    expect(await eventsOf('event:x\r\ndata:[1,\r\ndata: 2]\r\n\r\n')).to.deep.equal([{ event: 'x', data: [1, 2] }]);
  });

  it('gives undefined for data that is no JSON and drops an event that was cut off', async () => {
    expect(await eventsOf('data: nope\n\nevent: done\ndata: {"reply"')).to.deep.equal([{ event: 'message', data: undefined }]);
  });
});

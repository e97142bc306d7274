/** Requests that no client library would send. */
import { connect } from 'node:net';
import type { Answer } from '../harness/http-client.ts';

/** Sends the bytes as they are, reads until the server closes or falls silent, and gives the first answer. */
export async function rawRequest(port: number, bytes: string): Promise<Answer> {
  const text = await new Promise<string>((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => void socket.write(bytes, 'latin1'));
    const chunks: Buffer[] = [];
    const done = (): void => {
      socket.destroy();
      resolve(Buffer.concat(chunks).toString());
    };
    socket.setTimeout(1_000, done);
    socket
      .on('data', (chunk) => void chunks.push(chunk))
      .on('end', done)
      .on('error', reject);
  });
  const [head = '', ...rest] = text.split('\r\n\r\n');
  const [, status = '0'] = /^HTTP\/1\.1 (\d{3})/.exec(head) ?? [];
  const headers = Object.fromEntries(
    [...head.matchAll(/^([\w-]+): (.*)$/gm)].map(([, name = '', value = '']) => [name.toLowerCase(), value.trim()]),
  );
  const body = rest.join('\r\n\r\n').split(/(?<=\})HTTP\/1\.1/)[0] ?? '';
  const envelope = headers['content-type']?.includes('json') ? (JSON.parse(body) as Partial<Answer>) : {};
  return { status: Number(status), headers, text: body, code: envelope.code, message: envelope.message, data: envelope.data };
}

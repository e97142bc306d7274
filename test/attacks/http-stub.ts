/** The stub server of the attack corpus: routes as the cases describe them. */
import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import type { SeenRequest } from '../plugins/outside/simulated-network.ts';

export interface StubRoute {
  readonly host: string;
  readonly port?: string;
  readonly path: string;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly body_hex?: string;
  readonly gzip_bomb_bytes?: number;
  readonly gzip_layers?: number;
  readonly infinite?: boolean;
  readonly header_bytes?: number;
  readonly raw?: string;
  readonly openai_stub?: string;
}

const MEMBER_BYTES = 16 * 1024 * 1024;

/** Answers a request by the route for its host (or the address it came to) and path; 404 without one. */
export function serveRoute(routes: readonly StubRoute[], request: SeenRequest, response: ServerResponse): void {
  const [name = '', port = '80'] = request.host.split(':');
  const route = routes.find(
    (one) =>
      (one.host === name || one.host === request.address) &&
      (one.port === undefined || one.port === port) &&
      (one.path === request.path.split('?')[0] || (one.path.endsWith('*') && request.path.startsWith(one.path.slice(0, -1)))),
  );
  if (route === undefined) return void response.writeHead(404).end();
  if (route.raw !== undefined) return void response.socket?.end(route.raw);
  if (route.gzip_bomb_bytes !== undefined) return bomb(route.gzip_bomb_bytes, route.gzip_layers ?? 1, response);
  if (route.header_bytes !== undefined) {
    return void response.socket?.write(`HTTP/1.1 200 OK\r\nx-big: ${'x'.repeat(route.header_bytes)}\r\n\r\n`);
  }
  response.writeHead(route.status ?? 200, route.headers);
  if (route.infinite) return endless(response, Buffer.alloc(65_536, 'x'));
  response.end(route.body_hex === undefined ? (route.body ?? '') : Buffer.from(route.body_hex, 'hex'));
}

/** Gzip allows several members in a row, so one that is packed once can stand for gigabytes. */
function bomb(bytes: number, layers: number, response: ServerResponse): void {
  let packed: Buffer = gzipSync(Buffer.alloc(MEMBER_BYTES));
  for (let layer = 1; layer < layers; layer += 1) packed = gzipSync(Buffer.concat(Array.from({ length: 64 }, () => packed)));
  response.writeHead(200, { 'content-encoding': Array.from({ length: layers }, () => 'gzip').join(', ') });
  if (layers > 1) return void response.end(packed);
  let left = Math.ceil(bytes / MEMBER_BYTES);
  const more = (): void => {
    while (left > 0 && !response.destroyed) {
      left -= 1;
      if (!response.write(packed)) return void response.once('drain', more);
    }
    response.end();
  };
  more();
}

function endless(response: ServerResponse, piece: Buffer): void {
  while (!response.destroyed && response.write(piece)) continue;
  if (!response.destroyed) response.once('drain', () => endless(response, piece));
}

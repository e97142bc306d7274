/** A network of one stub server that stands behind any address: what is looked up and dialled is written down, and no packet leaves the host. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { BlockList, connect, isIP } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import type { Plugin } from '../../../kernel/index.ts';
import { createHttp } from '../../../plugins/outside/http.ts';
import type { Network } from '../../../plugins/outside/http.ts';
import outside from '../../../plugins/outside/index.ts';

/** A request as the stub saw it. `host` is the header, with its port when that is not the usual one. */
export interface SeenRequest {
  readonly host: string;
  readonly address: string;
  readonly port: number;
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  readonly text: string;
}

export interface NetworkOptions {
  /** Addresses by name; a name that is missing does not exist. A list of lists is answered one after another. */
  readonly dns?: Readonly<Record<string, readonly string[] | readonly (readonly string[])[]>>;
  /** What a lookup waits for. */
  readonly slowDns?: () => Promise<void>;
  serve(request: SeenRequest, response: ServerResponse): void;
  /** Called instead of connecting; may answer with another address than the one that was dialled. */
  readonly redirectDial?: (address: string) => string;
  readonly refuses?: (address: string, port: number) => boolean;
  /** Dials never end. */
  readonly silent?: boolean;
}

export interface SimulatedNetwork extends AsyncDisposable {
  readonly network: Network;
  readonly lookups: readonly string[];
  readonly dials: readonly { readonly address: string; readonly port: number }[];
  readonly requests: readonly SeenRequest[];
  /** Connections that stand. */
  open(): number;
  /** True when something in that network was dialled. */
  dialled(network: string): boolean;
}

/** Starts the stub. */
export async function simulatedNetwork(options: NetworkOptions): Promise<SimulatedNetwork> {
  const lookups: string[] = [];
  const dials: { address: string; port: number }[] = [];
  const requests: SeenRequest[] = [];
  const dialledBy = new Map<number, { readonly address: string; readonly port: number }>();
  const sockets = new Set<Socket>();
  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const body = Buffer.concat(pieces).toString('utf8');
      const { method = '', url: path = '', headers } = request;
      const { address, port } = dialledBy.get(request.socket.remotePort ?? 0) ?? { address: '', port: 0 };
      const text = [`${method} ${path}`, ...request.rawHeaders, body].join('\n');
      const seen = { host: headers.host ?? '', address, port, method, path, headers, body, text };
      requests.push(seen);
      options.serve(seen, response);
    });
  };
  const plain = createServer(handle);
  const secure = createTlsServer(certificate(), handle);
  for (const server of [plain, secure]) {
    server.on('connection', (socket: Socket) => {
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket)).on('error', () => {});
    });
    server.on('clientError', () => {});
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  }
  const portOf = (server: typeof plain): number => (server.address() as AddressInfo).port;

  const network: Network = {
    lookup(hostname, _, done) {
      lookups.push(hostname);
      const found = options.dns?.[hostname];
      const nth = lookups.filter((name) => name === hostname).length - 1;
      const addresses = Array.isArray(found?.[0]) ? ((found[nth] ?? found.at(-1)) as readonly string[]) : (found as readonly string[]);
      const answer = (): void => {
        if (addresses === undefined) return done(Object.assign(new Error('ENOTFOUND'), { code: 'ENOTFOUND' }), []);
        done(
          null,
          addresses.map((address) => ({ address, family: isIP(address) })),
        );
      };
      void (options.slowDns?.() ?? Promise.resolve()).then(answer);
    },
    connector: () => (target, done) => {
      const isSecure = target.protocol === 'https:';
      const port = target.port === '' ? (isSecure ? 443 : 80) : Number(target.port);
      const address = target.hostname;
      dials.push({ address, port });
      if (options.silent) return;
      if (options.refuses?.(address, port)) {
        return queueMicrotask(() => done(Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }), null));
      }
      const socket = isSecure
        ? connectTls({ host: '127.0.0.1', port: portOf(secure), rejectUnauthorized: false })
        : connect({ host: '127.0.0.1', port: portOf(plain) });
      socket.once('error', () => {});
      socket.once(isSecure ? 'secureConnect' : 'connect', () => {
        dialledBy.set(socket.localPort ?? 0, { address, port });
        const peer = options.redirectDial?.(address) ?? address;
        Object.defineProperty(socket, 'remoteAddress', { value: peer });
        done(null, socket);
      });
    },
  };
  return {
    network,
    lookups,
    dials,
    requests,
    open: () => sockets.size,
    dialled: (cidr) => dials.some(({ address }) => isWithin(address, cidr)),
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      for (const server of [plain, secure]) await new Promise((resolve) => void server.close(resolve));
    },
  };
}

/** The plugin `outside`, with tools' HTTP on a network of the test's. */
export const outsideOn = (network: Network): Plugin => ({
  ...outside,
  setup(ctx) {
    const provide = (name: string, service: object): unknown =>
      ctx.provide(name as never, { ...service, ...(name === 'outside' && { http: createHttp(ctx, network) }) } as never);
    return outside.setup(Object.create(ctx, { provide: { value: provide } }) as typeof ctx);
  },
});

function isWithin(address: string, cidr: string): boolean {
  const [network = '', bits] = cidr.split('/');
  const family = isIP(network) === 6 ? 'ipv6' : 'ipv4';
  const list = new BlockList();
  list.addSubnet(network, Number(bits ?? (family === 'ipv6' ? 128 : 32)), family);
  return list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
}

let pair: { readonly key: string; readonly cert: string } | undefined;

/** A certificate of its own, made once. */
function certificate(): { readonly key: string; readonly cert: string } {
  if (pair) return pair;
  const directory = mkdtempSync(join(tmpdir(), 'oryxos-tls-'));
  const [key, cert] = [join(directory, 'key'), join(directory, 'cert')];
  const request = [
    'req',
    '-x509',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:prime256v1',
    '-nodes',
    '-subj',
    '/CN=stub.test',
    '-days',
    '2',
  ];
  execFileSync('openssl', [...request, '-keyout', key, '-out', cert], { stdio: 'ignore' });
  pair = { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
  rmSync(directory, { recursive: true });
  return pair;
}

/** What stands around a host in the cases of POLICY, SECRET and INJECT: a stub of a provider, a network for tools, and channels to people. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Receiver } from '../harness/receiver.ts';
import type { SimulatedNetwork } from '../plugins/outside/simulated-network.ts';
import { simulatedNetwork } from '../plugins/outside/simulated-network.ts';
import type { Toolbox } from '../plugins/tools/toolbox.ts';
import { serveRoute } from './http-stub.ts';
import type { Channel, Case } from './policy-runner.ts';

/** Registers the channel with the port of the robot in its URL. */
export async function addChannel(box: Toolbox, { url, ...channel }: Channel, robot: Receiver): Promise<void> {
  const at = new URL(url);
  at.port = new URL(robot.origin).port;
  const { status, text } = await box.host.request('POST', '/api/v1/notify-channels', { ...channel, url: at.href });
  if (status !== 200) throw new Error(`no channel could be made: ${text}`);
}

/** The network of a case that has names; others have none. */
export async function networkOf({ setup: { dns, http = [] } }: Case): Promise<SimulatedNetwork | undefined> {
  if (dns === undefined) return undefined;
  const routes = http.flatMap(({ host, path, ...answer }) => (host === undefined || path === undefined ? [] : [{ host, path, ...answer }]));
  return simulatedNetwork({ dns, serve: (request, response) => serveRoute(routes, request, response) });
}

/** Answers every request so, with the secret filled in. */
export async function stubServer(answer: { status?: number; body: string } | undefined, secret: string) {
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(answer?.status ?? 200, { 'content-type': 'application/json' });
    response.end((answer?.body ?? '').replaceAll('$SECRET', secret));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    close: () => {
      server.closeAllConnections();
      return new Promise<void>((resolve) => void server.close(() => resolve()));
    },
  };
}

/** plugins/http/index.ts — Serves the routes that plugins register. */
import { hostname } from 'node:os';
import { definePlugin } from '../../kernel/index.ts';
import type {} from '../secrets/contract.ts';
import { bodyReader } from './body.ts';
import { dispatch } from './dispatch.ts';
import { EventStreams } from './event-streams.ts';
import { hostGuard } from './host-guard.ts';
import { Listener } from './listener.ts';
import { requestHandler } from './server.ts';

const MAX_STREAMS = 256;
const MAX_BUFFERED_BYTES = 1024 * 1024;
const HOST_PATTERN = '^(\\[[0-9A-Fa-f:.]+\\]|[A-Za-z0-9._-]+)(:[0-9]{1,5})?$';

export default definePlugin({
  name: 'http',
  requires: ['secrets'],
  configAt: {
    port: 'server.port',
    host: 'server.host',
    allowedHosts: 'server.allowed-hosts',
    heartbeatSeconds: 'oryxos.web.sse.heartbeat-seconds',
  },
  config: {
    type: 'object',
    properties: {
      port: { type: 'integer', minimum: 0, maximum: 65_535, default: 8080 },
      host: { type: 'string', minLength: 1, default: '127.0.0.1' },
      allowedHosts: { type: 'array', items: { type: 'string', pattern: HOST_PATTERN }, default: [] },
      heartbeatSeconds: { type: 'number', exclusiveMinimum: 0, default: 15 },
    },
    additionalProperties: false,
  },
  setup(ctx) {
    const { clock, log } = ctx;
    const mask = (text: string): string => ctx.services.secrets.mask(text);
    const { host, port, allowedHosts, heartbeatSeconds } = ctx.config;
    const streams = new EventStreams(
      {
        clock,
        heartbeatMs: heartbeatSeconds * 1000,
        maxBufferedBytes: MAX_BUFFERED_BYTES,
        onDropped: () => log.info('a stream was dropped: its client reads too slowly'),
      },
      MAX_STREAMS,
    );
    const handler = requestHandler({
      clock,
      log,
      guard: hostGuard({ bindHost: host, allowedHosts, machineName: hostname() }),
      dispatch: dispatch({ routes: ctx.registry('route'), readBody: bodyReader(), streams, clock, log, mask }),
      mask,
    });
    const listener = new Listener({ host, port, handler, endStreams: (view) => streams.endAll({ ...view, expected: true }), clock, log });

    ctx.own('listener', () => listener.close());
    ctx.provide('http', listener);
  },
});

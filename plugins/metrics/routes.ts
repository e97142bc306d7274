import type { Registry } from 'prom-client';
import type { Route } from '../http/contract.ts';
import { defineRoute, raw } from '../http/contract.ts';

const PATHS = ['/actuator/prometheus', '/metrics'];

/** Both paths give the same text, in the form that Prometheus reads. */
export const metricsRoutes = (registry: Registry): readonly Route[] =>
  PATHS.map((path) =>
    defineRoute({
      name: `GET ${path}`,
      summary: 'Numbers for monitoring, in the text format of Prometheus',
      kind: 'read',
      produces: 'text/plain',
      handle: async () => raw(200, { 'Content-Type': registry.contentType, 'Cache-Control': 'no-store' }, await registry.metrics()),
    }),
  );

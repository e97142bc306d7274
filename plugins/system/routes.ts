/** Routes about the server itself. */
import type { Clock, Engine, ReadonlyRegistry } from '../../kernel/index.ts';
import { notFound } from '../../kernel/index.ts';
import type { Agents } from '../agents/contract.ts';
import { defineRoute, raw } from '../http/contract.ts';
import type { HttpServer, Route } from '../http/contract.ts';
import type { StoreHealth } from '../store/contract.ts';
import type { InfoView } from './info.ts';
import { pageHtml } from './page.ts';
import { pageStyle } from './page-style.ts';

/** What the routes show. */
export interface SystemSources {
  readonly info: () => InfoView;
  readonly http: HttpServer;
  readonly engine: Engine;
  readonly storeHealth: StoreHealth;
  readonly agents: Agents;
  readonly routes: ReadonlyRegistry<Route>;
  readonly clock: Clock;
}

const LINKS = [
  { href: '/admin/', text: 'Console' },
  { href: '/swagger-ui', text: 'API' },
  { href: '/v3/api-docs', text: 'OpenAPI' },
];
const ACTUATOR_PATHS = ['/actuator/health', '/actuator/health/liveness', '/actuator/health/readiness'];

/** Health, information and the page at "/". */
export const systemRoutes = (sources: SystemSources): readonly Route[] => [
  defineRoute({
    name: 'GET /api/v1/health',
    summary: 'Is the server alive?',
    kind: 'read',
    answer: { type: 'object', properties: { status: { enum: ['ok', 'degraded'] }, problem: { type: 'string' } }, required: ['status'] },
    handle: () => {
      const problem = sources.storeHealth.problem();
      return problem === undefined ? { status: 'ok' } : { status: 'degraded', problem };
    },
  }),
  defineRoute({
    name: 'GET /api/v1/info',
    summary: 'Version, providers, and warnings for the operator',
    kind: 'read',
    answer: {
      type: 'object',
      properties: {
        application: { const: 'oryxos' },
        version: { type: 'string' },
        providers: { type: 'array', items: { type: 'string' } },
        warnings: { type: 'array', items: { type: 'string' } },
      },
      required: ['application', 'version', 'providers', 'warnings'],
    },
    handle: () => sources.info(),
  }),
  ...ACTUATOR_PATHS.map((path) =>
    defineRoute({
      name: `GET ${path}`,
      summary: 'Health as monitoring tools of the Spring world ask for it, without details',
      kind: 'read',
      produces: 'application/json',
      handle: () => raw(200, { 'Content-Type': 'application/json; charset=utf-8' }, '{"status":"UP"}'),
    }),
  ),
  defineRoute({
    name: 'GET /',
    summary: 'A page for people; 404 for everybody else',
    kind: 'read',
    produces: 'text/html',
    handle: (request) => {
      request.setHeader('Vary', 'Accept');
      if (request.header('accept')?.toLowerCase().includes('text/html') !== true) throw notFound('Resource not found');
      return raw(200, { 'Content-Type': 'text/html; charset=utf-8' }, page(sources));
    },
  }),
  defineRoute({
    name: 'GET /system.css',
    summary: 'Style of the page',
    kind: 'read',
    produces: 'text/css',
    handle: () => raw(200, { 'Content-Type': 'text/css; charset=utf-8', 'Cache-Control': 'no-cache' }, pageStyle),
  }),
];

function page({ info, http, engine, agents, routes, clock }: SystemSources): string {
  const { version, warnings } = info();
  return pageHtml({
    version,
    warnings,
    url: http.address?.url ?? '',
    agents: agents.list(),
    runs: engine.active(),
    links: LINKS.filter(({ href }) => routes.get(`GET ${href}`) !== undefined),
    now: clock.now(),
  });
}

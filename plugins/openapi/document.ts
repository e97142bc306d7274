/** The OpenAPI document of a set of routes. */
import type { Route } from '../http/contract.ts';
import { errorResponses, errorSchema } from './error-answers.ts';
import { EXAMPLE_AT, operationOf } from './operation.ts';
import { operationName, shapeOf, tagOf } from './operation-name.ts';
import type { OperationName } from './operation-name.ts';

const PAGE = /^(text\/(html|css|javascript)|image\/)/;

/**
 * An OpenAPI 3.1 document of everything that is served, sorted by path. Left out are pages and their files: routes that produce HTML, CSS,
 * JavaScript or images, and routes outside `/api/` that declare no answer at all. Of two routes that match the same requests the first is in.
 */
export function openApiDocument(routes: readonly Route[], version: string): Record<string, unknown> {
  const found = documented(routes);
  const paths: Record<string, Record<string, unknown>> = {};
  for (const { route, name } of found) (paths[name.path] ??= {})[name.method] = operationOf(route, name);
  return {
    openapi: '3.1.0',
    info: {
      title: 'OryxOS',
      version,
      description:
        'Every JSON answer stands in the envelope `{code, message, data, timestamp}`: `code` is 0 for a success and the HTTP status for an ' +
        'error. Times in `data` are ISO-8601 in UTC. There is no authentication; the headers Host and Origin are checked.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'This server' }],
    tags: [...new Set(found.map(({ name }) => tagOf(name)))].sort().map((name) => ({ name })),
    paths,
    components: {
      schemas: { Error: errorSchema },
      responses: errorResponses(EXAMPLE_AT),
      headers: { TraceId: { description: 'Id of the run', schema: { type: 'string', format: 'uuid' } } },
    },
  };
}

/** Whether a route is a page or a file of one, which the document leaves out. */
export function isPage({ name, answer, produces }: Pick<Route, 'name' | 'answer' | 'produces'>): boolean {
  if (produces !== undefined) return PAGE.test(produces);
  return answer === undefined && !/^\S+ \/api\//.test(name);
}

function documented(routes: readonly Route[]): readonly { readonly route: Route; readonly name: OperationName }[] {
  const shapes = new Set<string>();
  const found: { readonly route: Route; readonly name: OperationName }[] = [];
  for (const route of routes) {
    const name = operationName(route.name);
    if (name === undefined || isPage(route) || shapes.has(shapeOf(name))) continue;
    shapes.add(shapeOf(name));
    found.push({ route, name });
  }
  return found.sort((a, b) => order(a.name.path, b.name.path) || order(a.name.method, b.name.method));
}

const order = (a: string, b: string): number => (a === b ? 0 : a < b ? -1 : 1);

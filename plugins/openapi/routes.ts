/** The document and its viewer over HTTP. */
import type { ReadonlyRegistry } from '../../kernel/index.ts';
import { notFound } from '../../kernel/index.ts';
import { defineRoute, raw } from '../http/contract.ts';
import type { Route } from '../http/contract.ts';
import { openApiDocument } from './document.ts';
import { swaggerFiles, swaggerPage } from './swagger-files.ts';

/** The viewer sets styles from its script and shows images that its style sheet holds as data; scripts come from this server only. */
const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; " +
  "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** The document is made again by the first request after a route has come or gone. */
export function openApiRoutes(routes: ReadonlyRegistry<Route>, version: string): readonly Route[] {
  let made: { readonly version: number; readonly text: string } | undefined;
  const text = (): string => {
    if (made?.version !== routes.version) {
      made = { version: routes.version, text: JSON.stringify(openApiDocument(routes.list(), version)) };
    }
    return made.text;
  };
  return [
    defineRoute({
      name: 'GET /v3/api-docs',
      summary: 'This document',
      kind: 'read',
      produces: 'application/json',
      handle: () => raw(200, { 'Content-Type': 'application/json; charset=utf-8' }, text()),
    }),
    defineRoute({
      name: 'GET /swagger-ui',
      summary: 'A page that shows the document and tries it out',
      kind: 'read',
      produces: 'text/html',
      handle: () => raw(200, { 'Content-Type': 'text/html; charset=utf-8', 'Content-Security-Policy': PAGE_POLICY }, swaggerPage),
    }),
    ...['/swagger-ui.html', '/swagger-ui/', '/swagger-ui/index.html'].map((path) =>
      defineRoute({
        name: `GET ${path}`,
        summary: 'Leads to the page',
        kind: 'read',
        produces: 'text/html',
        handle: () => raw(302, { Location: '/swagger-ui', 'Content-Type': 'text/plain; charset=utf-8' }, '/swagger-ui\n'),
      }),
    ),
    defineRoute({
      name: 'GET /swagger-ui/{file}',
      summary: 'A file of the page',
      kind: 'read',
      produces: 'text/javascript',
      params: { type: 'object', properties: { file: { type: 'string' } }, required: ['file'] },
      async handle({ params }) {
        const file = swaggerFiles.get(params.file);
        if (file === undefined) throw notFound('Resource not found');
        return raw(200, { 'Content-Type': file.type, 'Cache-Control': 'max-age=3600' }, await file.read());
      },
    }),
  ];
}

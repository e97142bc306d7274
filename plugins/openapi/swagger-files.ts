/** The files of the viewer, from the package that is installed beside OryxOS: nothing is fetched from elsewhere. */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** A file of the viewer. */
export interface SwaggerFile {
  readonly type: string;
  read(): Promise<string | Uint8Array>;
}

const directory = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
const packaged = (name: string, type: string): readonly [string, SwaggerFile] => [
  name,
  { type, read: () => readFile(join(directory, name)) },
];

/** In a file of its own, because the page runs no inline scripts. The online validator is switched off. */
const initializer = `window.addEventListener('load', function () {
  window.ui = SwaggerUIBundle({
    url: '/v3/api-docs',
    dom_id: '#swagger-ui',
    deepLinking: true,
    displayRequestDuration: true,
    docExpansion: 'none',
    filter: true,
    tagsSorter: 'alpha',
    validatorUrl: null,
  });
});
`;

/** All files by name; there is no other way to reach one, so no path can be built from a name. */
export const swaggerFiles: ReadonlyMap<string, SwaggerFile> = new Map([
  packaged('swagger-ui.css', 'text/css; charset=utf-8'),
  packaged('swagger-ui-bundle.js', 'text/javascript; charset=utf-8'),
  packaged('favicon-32x32.png', 'image/png'),
  packaged('favicon-16x16.png', 'image/png'),
  ['initializer.js', { type: 'text/javascript; charset=utf-8', read: async () => initializer }],
]);

/** The page that loads them. */
export const swaggerPage = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>OryxOS API</title>
<link rel="stylesheet" href="/swagger-ui/swagger-ui.css">
<link rel="icon" type="image/png" sizes="32x32" href="/swagger-ui/favicon-32x32.png">
<link rel="icon" type="image/png" sizes="16x16" href="/swagger-ui/favicon-16x16.png">
</head>
<body>
<div id="swagger-ui"></div>
<noscript>This page needs JavaScript; the document itself is at <a href="/v3/api-docs">/v3/api-docs</a>.</noscript>
<script src="/swagger-ui/swagger-ui-bundle.js"></script>
<script src="/swagger-ui/initializer.js"></script>
</body>
</html>
`;

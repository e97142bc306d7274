/** plugins/openapi/index.ts — Describes every route as an OpenAPI document, and shows it. */
import { definePlugin } from '../../kernel/index.ts';
import '../http/contract.ts';
import { openApiRoutes } from './routes.ts';

export default definePlugin({
  name: 'openapi',
  requires: ['http'],
  config: {
    type: 'object',
    properties: { version: { type: 'string', default: '0.0.0', description: 'Version of the product; the program sets it.' } },
    additionalProperties: false,
  },
  setup(ctx) {
    for (const route of openApiRoutes(ctx.registry('route'), ctx.config.version)) ctx.register('route', route);
  },
});

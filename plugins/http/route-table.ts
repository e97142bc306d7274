/** A router made from a list of routes. It is never changed: another list makes another table. */
import { Router } from '@koa/router';
import type { Context, Middleware } from 'koa';
import { OryxError, notFound } from '../../kernel/index.ts';
import { bySpecificity, routeName, shapeOf } from './route-name.ts';
import type { RouteName } from './route-name.ts';
import type { Route } from './contract.ts';

/** Answers one request with the route that was found for it; `ctx.params` holds the decoded path parameters. */
export type Serve = (ctx: Context, route: Route) => Promise<void>;

/**
 * Compiles routes to one middleware. It throws ORYX_NOT_FOUND for a path that no route has, and ORYX_METHOD_NOT_ALLOWED, with the header
 * `Allow`, for a method that none of the path's routes has.
 *
 * @param onUnusable  told of a route that is left out: its name is malformed or it matches the same requests as an earlier one
 */
export function routeTable(routes: readonly Route[], serve: Serve, onUnusable: (route: Route, reason: string) => void): Middleware {
  const router = new Router({ sensitive: true, strict: true });
  for (const { route, name } of usable(routes, onUnusable)) {
    router.register(pattern(name), [name.method], (ctx) => serve(ctx, route));
  }
  const middleware = router.routes();
  return async (ctx) => {
    await middleware(ctx as Parameters<typeof middleware>[0], async () => refuse(ctx));
  };
}

function usable(
  routes: readonly Route[],
  onUnusable: (route: Route, reason: string) => void,
): readonly { readonly route: Route; readonly name: RouteName }[] {
  const byShape = new Map<string, { readonly route: Route; readonly name: RouteName }>();
  for (const route of routes) {
    const name = routeName(route.name);
    if (name === undefined) {
      onUnusable(route, 'its name is not of the form "GET /path/{param}"');
      continue;
    }
    const earlier = byShape.get(shapeOf(name));
    if (earlier === undefined) byShape.set(shapeOf(name), { route, name });
    else onUnusable(route, `"${earlier.route.name}" matches the same requests`);
  }
  return [...byShape.values()].sort((a, b) => bySpecificity(a.name, b.name));
}

/** The router's own notation; everything that it would take for syntax is escaped. */
const pattern = ({ segments }: RouteName): string =>
  segments
    .map((segment) => (segment.kind === 'param' ? `/:${segment.name}` : `/${segment.text.replace(/[{}()[\]+?!:*\\"]/g, '\\$&')}`))
    .join('');

function refuse(ctx: Context): never {
  const layers: readonly { readonly methods: readonly string[] }[] = ctx['matched'] ?? [];
  const methods = new Set(layers.flatMap((layer) => layer.methods));
  if (methods.size === 0) throw notFound('Resource not found');
  const allow = [...methods].sort().join(', ');
  ctx.set('Allow', allow);
  throw new OryxError('ORYX_METHOD_NOT_ALLOWED', `${ctx.method} is not allowed here; allowed: ${allow}.`);
}

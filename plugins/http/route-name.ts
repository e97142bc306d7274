/** What stands in the name of a route, and which of several routes comes first. */

/** A route's name, taken apart. */
export interface RouteName {
  readonly method: string;
  /** As written, e.g. "/api/v1/agents/{name}". */
  readonly path: string;
  readonly segments: readonly Segment[];
}

/** What stands between two slashes: a text that must match exactly, or a parameter. */
export type Segment = { readonly kind: 'text'; readonly text: string } | { readonly kind: 'param'; readonly name: string };

const NAME = /^(GET|POST|PUT|PATCH|DELETE) (\/\S*)$/;
const PARAM = /^\{([A-Za-z_][A-Za-z0-9_]*)\}$/;

/** Takes "GET /api/v1/agents/{name}" apart; undefined for anything else. */
export function routeName(name: string): RouteName | undefined {
  const [, method, path] = NAME.exec(name) ?? [];
  if (method === undefined || path === undefined) return undefined;
  const segments = path.slice(1).split('/').map(segmentOf);
  return segments.every((segment) => segment !== undefined) ? { method, path, segments } : undefined;
}

/** Sorts text before parameters, segment by segment: "/agents/new" is found before "/agents/{name}", whoever was registered first. */
export function bySpecificity(a: RouteName, b: RouteName): number {
  const [left, right] = [kindsOf(a), kindsOf(b)];
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

/** Equal for two routes that match the same requests: "GET /a/{x}" and "GET /a/{y}". */
export const shapeOf = ({ method, segments }: RouteName): string =>
  `${method} /${segments.map((segment) => (segment.kind === 'text' ? segment.text : '{}')).join('/')}`;

/** "010" for text, parameter, text: compared as a whole, so that the order is total. */
const kindsOf = ({ segments }: RouteName): string => segments.map(({ kind }) => (kind === 'text' ? '0' : '1')).join('');

function segmentOf(text: string): Segment | undefined {
  const param = PARAM.exec(text)?.[1];
  if (param !== undefined) return { kind: 'param', name: param };
  return /[{}]/.test(text) ? undefined : { kind: 'text', text };
}

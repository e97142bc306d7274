/** What an operation is called, and under which heading it stands. */

/** A route's name, taken apart. */
export interface OperationName {
  /** Lower case, as the document wants it. */
  readonly method: string;
  readonly path: string;
  /** Names of the path parameters, in order. */
  readonly params: readonly string[];
}

const NAME = /^(GET|POST|PUT|PATCH|DELETE) (\/\S*)$/;
const PARAM = /\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

/** Takes "GET /api/v1/agents/{name}" apart; undefined for a name that no request can match. */
export function operationName(routeName: string): OperationName | undefined {
  const [, method, path] = NAME.exec(routeName) ?? [];
  if (method === undefined || path === undefined) return undefined;
  return { method: method.toLowerCase(), path, params: [...path.matchAll(PARAM)].map(([, param]) => param ?? '') };
}

/** Equal for two routes that match the same requests; a document may hold only one of them. */
export const shapeOf = ({ method, path }: OperationName): string => `${method} ${path.replace(PARAM, '{}')}`;

/** "getV1AgentsByNameMemory" for "GET /api/v1/agents/{name}/memory": unique as long as paths differ in more than punctuation. */
export function operationId({ method, path }: OperationName): string {
  const words = path
    .replace(/^\/api\//, '/')
    .replace(PARAM, (_, param: string) => `by-${param}`)
    .split(/[^A-Za-z0-9]+/)
    .filter((word) => word !== '');
  return method + words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
}

/** The heading: the first segment behind `/api/v1`, else the first of the path. */
export function tagOf({ path }: OperationName): string {
  const [first = '', second = '', third = ''] = path.split('/').slice(1);
  const isVersioned = first === 'api' && /^v\d+$/.test(second);
  return (isVersioned ? third : first) || 'root';
}

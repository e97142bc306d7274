/** Where the endpoints of an OpenAI-compatible server are. */

export type Endpoint = 'chat/completions' | 'embeddings' | 'models';

/** A path segment that names an API version: `v4`, `v1beta`, `v1alpha2`. */
const VERSION = /\/v\d+(?:[a-z]+\d*)?(?=\/|$)/;
const FULL_CHAT_PATH = '/chat/completions';

/**
 * The URL of an endpoint beneath what an administrator calls the base URL. With or without a trailing `/` or `/v1` it is the same server;
 * another version in the path replaces `/v1`; a full chat URL is taken as it is. A query stays, a fragment goes.
 *
 * Throws TypeError when `baseUrl` is not a URL.
 */
export function endpointUrl(baseUrl: string, endpoint: Endpoint): string {
  const url = new URL(baseUrl.trim());
  url.hash = '';
  url.pathname = endpointPath(url.pathname, endpoint);
  return url.href;
}

function endpointPath(basePath: string, endpoint: Endpoint): string {
  let path = withoutTail(basePath, ['/']);
  if (path.endsWith(FULL_CHAT_PATH)) return `${path.slice(0, -FULL_CHAT_PATH.length)}/${endpoint}`;
  path = withoutTail(path, ['/', '/v1']);
  return VERSION.test(path) ? `${path}/${endpoint}` : `${path}/v1/${endpoint}`;
}

function withoutTail(path: string, tails: readonly string[]): string {
  let rest = path;
  for (let tail = tails.find((t) => rest.endsWith(t)); tail !== undefined; tail = tails.find((t) => rest.endsWith(t))) {
    rest = rest.slice(0, -tail.length);
  }
  return rest;
}

/** Spelling of configuration keys. */

/** The one spelling that keys are compared in: lower-case words joined by "-"; `allowed_paths`, `allowed-paths` and `allowedPaths` are equal. */
export function canonical(key: string): string {
  return key
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .replaceAll('_', '-')
    .toLowerCase();
}

/** The environment variable that sets a key: "oryxos.web.sse.heartbeat-seconds" is ORYXOS_WEB_SSE_HEARTBEAT_SECONDS. */
export function variableOf(path: string): string {
  return path.replaceAll(/[.-]/g, '_').toUpperCase();
}

import { createHash } from 'node:crypto';

/** A hash of a JSON value that white space and the order of keys do not change. The server bounds the depth of bodies; this does not. */
export const fingerprint = (body: unknown): string => createHash('sha256').update(canonical(body)).digest('hex');

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${canonical(item)}`).join(',')}}`;
}

/** True when `path` is `directory` or below it. Both are absolute and normalised; names are compared whole and exactly. */
export function isInside(directory: string, path: string): boolean {
  return path === directory || path.startsWith(directory.endsWith('/') ? directory : `${directory}/`);
}

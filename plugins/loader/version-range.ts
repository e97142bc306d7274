/** Ranges of versions as package.json writes them: `^1.2`, `~0.3.1`, `>=1 <3`, `1.x`, `1.2 - 2.0`, `a || b`, `*`. */

type Version = readonly [major: number, minor: number, patch: number];
type Comparator = (version: Version) => boolean;

const PARTIAL = /^[v=]*(\d+|[xX*])(?:\.(\d+|[xX*]))?(?:\.(\d+|[xX*]))?(?:[-+][0-9A-Za-z.+-]*)?$/;
const OPERATOR = /(<=|>=|<|>|=|~>?|\^)\s+/g;

/**
 * Whether a version is in a range; undefined when the range cannot be read (`workspace:*`, a URL). What follows "-" or "+" in a version is not
 * looked at: a prerelease of the host counts as the version that it is going to be.
 */
export function isInRange(version: string, range: string): boolean | undefined {
  const have = partial(version);
  if (have?.length !== 3) return undefined;
  const alternatives = range.split('||').map((part) => comparators(part.trim()));
  if (alternatives.includes(undefined)) return undefined;
  return alternatives.some((all) => all?.every((accepts) => accepts(have as unknown as Version)));
}

function comparators(text: string): readonly Comparator[] | undefined {
  const [, from, to] = /^(\S+)\s+-\s+(\S+)$/.exec(text) ?? [];
  const words = from !== undefined && to !== undefined ? [`>=${from}`, `<=${to}`] : text.replaceAll(OPERATOR, '$1').split(/\s+/);
  const all = words.map((word) => comparator(word));
  return all.includes(undefined) ? undefined : (all as readonly Comparator[]);
}

function comparator(word: string): Comparator | undefined {
  const [, operator = '', rest = ''] = /^(<=|>=|<|>|~>?|\^|)(.*)$/.exec(word) ?? [];
  const given = rest === '' ? [] : partial(rest);
  if (given === undefined) return undefined;
  const [low, high] = [floor(given), ceiling(given)];
  if (operator === '<') return (version) => compare(version, low) < 0;
  if (operator === '>=') return (version) => compare(version, low) >= 0;
  if (operator === '>') return (version) => high !== undefined && compare(version, high) >= 0;
  if (operator === '<=') return (version) => high === undefined || compare(version, high) < 0;
  const end = operator === '^' ? caretEnd(given) : operator === '' ? high : ceiling(given.slice(0, 2));
  return (version) => compare(version, low) >= 0 && (end === undefined || compare(version, end) < 0);
}

/** The numbers before the first wildcard; undefined for what is no version. */
function partial(text: string): readonly number[] | undefined {
  const match = PARTIAL.exec(text);
  if (match === null) return undefined;
  const parts = match.slice(1, 4).map((part) => (part === undefined || /[xX*]/.test(part) ? undefined : Number(part)));
  const end = parts.indexOf(undefined);
  return (end < 0 ? parts : parts.slice(0, end)) as readonly number[];
}

const floor = ([major = 0, minor = 0, patch = 0]: readonly number[]): Version => [major, minor, patch];

/** The first version after everything that the numbers cover; undefined when they cover everything. */
function ceiling([major, minor, patch]: readonly number[]): Version | undefined {
  if (major === undefined) return undefined;
  if (minor === undefined) return [major + 1, 0, 0];
  return patch === undefined ? [major, minor + 1, 0] : [major, minor, patch + 1];
}

/** Nothing left of the first number that is not 0 may change; numbers that are missing may. */
function caretEnd(given: readonly number[]): Version | undefined {
  const fixed = given.findIndex((number) => number > 0);
  return ceiling(fixed < 0 ? given : given.slice(0, fixed + 1));
}

function compare(a: Version, b: Version): number {
  return a[0] - b[0] || a[1] - b[1] || a[2] - b[2];
}

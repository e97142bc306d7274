/** Placeholders of the corpus, filled in for one run of a case. */

/** What each placeholder stands for, without its "$". */
export type Meanings = Readonly<Record<string, string>>;

const MAX_EXPANDED = 400_000_000;

/** The value with every placeholder filled in, and `repeat`, `repeat_list`, `repeat_then` and `nest` expanded. */
export function filled(value: unknown, meanings: Meanings): unknown {
  if (typeof value === 'string') return filledText(value, meanings);
  if (Array.isArray(value)) return value.map((item) => filled(item, meanings));
  if (typeof value !== 'object' || value === null) return value;
  const [[key, made] = ['', undefined], ...others] = Object.entries(value);
  if (others.length === 0 && Array.isArray(made)) {
    const parts = made.map((part) => filled(part, meanings));
    if (key === 'repeat') return repeated(parts[0], parts[1]);
    if (key === 'repeat_list') return Array.from({ length: Number(parts[1]) }, () => parts[0]);
    if (key === 'repeat_then') return repeated(parts[0], parts[1]) + String(parts[2]);
    if (key === 'nest') return repeated(parts[0], parts[1]) + repeated(parts[2], parts[1]);
  }
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [filledText(name, meanings), filled(item, meanings)]));
}

/** Longer names first: `$ANAME` is not `$A` and "NAME". */
function filledText(text: string, meanings: Meanings): string {
  const names = Object.keys(meanings).sort((a, b) => b.length - a.length);
  return text.replace(new RegExp(`\\$(${names.join('|')})`, 'g'), (_whole, name: string) => meanings[name] ?? '');
}

function repeated(text: unknown, count: unknown): string {
  if (String(text).length * Number(count) > MAX_EXPANDED) throw new Error('a placeholder expands to more than fits into memory');
  return String(text).repeat(Number(count));
}

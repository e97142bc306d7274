import { maskFields } from './mask-fields.ts';
import { maskPem, maskShapes } from './mask-shapes.ts';
import { masked } from './masked.ts';
import { SECRET_NAME } from './secret-name.ts';

const MIN_LENGTH = 6;
/** Values that were only seen in passing; the oldest give way. */
const MAX_SEEN = 1_000;
/** A text without any of these has none of the shapes, which is nearly every text. */
const SUSPICIOUS = new RegExp(
  `${SECRET_NAME}|authorization|bearer|://|[?&;6](?:sig|key|auth)|/hook/|hooks\\.slack|/bot\\d|sk-|oryx_|a[ks]ia|aiza|gh[pousr]_|github_pat_|glpat-|xox|eyj|-----begin`,
  'i',
);

/** Hides secrets in texts. Knows exact values, each as often as it was remembered, and shapes. */
export class Masker {
  readonly #remembered = new Map<string, number>();
  readonly #seen = new Set<string>();
  #known: RegExp | undefined;

  /** See `Secrets.remember`. */
  remember(value: string): () => void {
    if (value.length < MIN_LENGTH) return () => undefined;
    this.#count(value, 1);
    let forgotten = false;
    return () => {
      if (!forgotten) this.#count(value, -1);
      forgotten = true;
    };
  }

  /** Hides a value from now on, until 1,000 others were seen after it. */
  see(value: string): void {
    if (value.length < MIN_LENGTH) return;
    const isNew = !this.#seen.delete(value);
    this.#seen.add(value);
    if (!isNew) return;
    if (this.#seen.size > MAX_SEEN) this.#seen.delete(this.#seen.values().next().value ?? '');
    this.#known = undefined;
  }

  /** See `Secrets.mask`. */
  mask(text: string): string {
    const withoutKnown = this.#maskKnown(text);
    if (!SUSPICIOUS.test(withoutKnown)) return withoutKnown;
    return maskShapes(maskFields(maskPem(withoutKnown)));
  }

  #maskKnown(text: string): string {
    if (this.#remembered.size + this.#seen.size === 0) return text;
    this.#known ??= anyOf(new Set([...this.#remembered.keys(), ...this.#seen]));
    return text.replace(this.#known, (value) => masked(value));
  }

  #count(value: string, change: number): void {
    const count = (this.#remembered.get(value) ?? 0) + change;
    if (count > 0) this.#remembered.set(value, count);
    if (count <= 0) this.#remembered.delete(value);
    this.#known = undefined;
  }
}

/** Matches each value as it is, as JSON writes it and as a URL writes it; longer ones first, so that none hides only a part of another. */
function anyOf(values: ReadonlySet<string>): RegExp {
  const spellings = new Set<string>();
  for (const value of values) {
    for (const spelling of [value, JSON.stringify(value).slice(1, -1), encoded(value)]) spellings.add(spelling);
  }
  const sorted = [...spellings].sort((a, b) => b.length - a.length);
  return new RegExp(sorted.map((spelling) => spelling.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('|'), 'g');
}

/** Half a character, which URLs cannot spell, becomes the replacement character. */
function encoded(value: string): string {
  return encodeURIComponent(Buffer.from(value).toString());
}

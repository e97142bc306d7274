/** Typed reading of one map of the front matter; every complaint knows where the offending key stands. */
import type { TextPosition } from './contract.ts';

/** What is wrong with one field, and where. Thrown by `Section`, caught by `deriveAgent`. */
export class FieldFault extends Error {
  readonly position: TextPosition;
  constructor(message: string, position: TextPosition) {
    super(message);
    this.name = 'FieldFault';
    this.position = position;
  }
}

type Path = readonly (string | number)[];
type Locate = (path: Path) => TextPosition;
type Fields = Readonly<Record<string, unknown>>;

/** A text of a list, with the line it stands on. */
export interface LocatedText {
  readonly text: string;
  readonly line: number;
}

/** A map of the front matter. A key whose value is null counts as missing. Every method throws FieldFault for a value of the wrong type. */
export class Section {
  readonly #fields: Fields;
  readonly #path: Path;
  readonly #locate: Locate;

  constructor(fields: Fields, path: Path, locate: Locate) {
    this.#fields = fields;
    this.#path = path;
    this.#locate = locate;
  }

  /** A FieldFault at `key`; `message` follows the key's full name. */
  fault(key: string | number, message: string): FieldFault {
    return new FieldFault(`${this.#nameOf(key)} ${message}`, this.positionOf(key));
  }

  positionOf(key: string | number): TextPosition {
    return this.#locate([...this.#path, key]);
  }

  has(key: string): boolean {
    return this.#fields[key] !== undefined && this.#fields[key] !== null;
  }

  /** A text that must be there and not be blank. */
  text(key: string): string {
    const text = this.optionalText(key);
    if (text === undefined) throw this.fault(key, 'is missing');
    if (text.trim() === '') throw this.fault(key, 'must not be blank');
    return text;
  }

  optionalText(key: string): string | undefined {
    if (!this.has(key)) return undefined;
    const value = this.#fields[key];
    if (typeof value === 'string') return value;
    throw this.fault(key, typeof value === 'object' ? 'must be text' : 'must be text: put the value in quotes');
  }

  /** Text, or a number or boolean as the text that YAML reads. */
  scalarText(key: string): string | undefined {
    if (!this.has(key)) return undefined;
    const value = this.#fields[key];
    if (typeof value === 'string') return value;
    if (typeof value === 'number' || typeof value === 'boolean') return String(value);
    throw this.fault(key, 'must be a single value');
  }

  optionalInteger(key: string, min: number, max: number): number | undefined {
    const value = this.optionalNumber(key, min, max);
    if (value !== undefined && !Number.isInteger(value)) throw this.fault(key, `must be a whole number from ${min} to ${max}`);
    return value;
  }

  optionalNumber(key: string, min: number, max: number): number | undefined {
    if (!this.has(key)) return undefined;
    const value = this.#fields[key];
    if (typeof value === 'number' && value >= min && value <= max) return value;
    throw this.fault(key, `must be a number from ${min} to ${max}`);
  }

  optionalChoice<const T extends string>(key: string, choices: readonly T[]): T | undefined {
    if (!this.has(key)) return undefined;
    const found = choices.find((choice) => choice === this.#fields[key]);
    if (found === undefined) throw this.fault(key, `must be one of ${choices.join(', ')}`);
    return found;
  }

  optionalSection(key: string): Section | undefined {
    if (!this.has(key)) return undefined;
    const value = this.#fields[key];
    if (!isMap(value)) throw this.fault(key, 'must be a map of keys and values');
    return new Section(value, [...this.#path, key], this.#locate);
  }

  /** A list of texts (numbers count as their text), none of them blank, without repetitions; undefined when the key is missing. */
  optionalTexts(key: string): readonly LocatedText[] | undefined {
    const list = this.#list(key);
    if (list === undefined) return undefined;
    const found = new Map<string, LocatedText>();
    for (const [index, item] of list.entries()) {
      const text = typeof item === 'number' ? String(item) : item;
      const position = this.#locate([...this.#path, key, index]);
      if (typeof text !== 'string') throw new FieldFault(`${this.#nameOf(key)}: item ${index + 1} must be text`, position);
      if (text.trim() === '') throw new FieldFault(`${this.#nameOf(key)}: item ${index + 1} is blank`, position);
      if (!found.has(text)) found.set(text, { text, line: position.line });
    }
    return [...found.values()];
  }

  /** A list of maps; empty when the key is missing. With `nameKey`, an item that is only a text counts as a map with that one key. */
  sections(key: string, nameKey?: string): readonly Section[] {
    return (this.#list(key) ?? []).map((item, index) => {
      const path = [...this.#path, key, index];
      if (isMap(item)) return new Section(item, path, this.#locate);
      if (nameKey !== undefined && typeof item === 'string') return new Section({ [nameKey]: item }, path, this.#locate);
      throw new FieldFault(`${this.#nameOf(key)}: item ${index + 1} must be a map of keys and values`, this.#locate(path));
    });
  }

  /** One warning for each key that is not among `known`. */
  unknownKeys(known: readonly string[]): readonly string[] {
    return Object.keys(this.#fields)
      .filter((key) => !known.includes(key))
      .map((key) => `line ${this.positionOf(key).line}: unknown key "${this.#nameOf(key)}" has no effect unless a plugin reads it`);
  }

  #list(key: string): readonly unknown[] | undefined {
    if (!this.has(key)) return undefined;
    const value = this.#fields[key];
    if (!Array.isArray(value)) throw this.fault(key, 'must be a list');
    return value;
  }

  #nameOf(key: string | number): string {
    return [...this.#path, key].reduce<string>(
      (name, step) => (typeof step === 'number' ? `${name}[${step + 1}]` : name === '' ? step : `${name}.${step}`),
      '',
    );
  }
}

function isMap(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

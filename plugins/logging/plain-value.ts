import { isSecretName } from '../secrets/contract.ts';

const MAX_DEPTH = 6;
const MAX_ITEMS = 100;
const MAX_CHARACTERS = 8_192;

/** What JSON can hold. */
export type Plain = null | boolean | number | string | readonly Plain[] | { readonly [key: string]: Plain };

/**
 * Turns anything into what JSON can hold, with every string masked and then cut at 8,192 characters, at most 6 levels deep and 100 items wide.
 * Errors keep code, message, stack and causes. Fields whose names say that they are secret become `****`. Never throws.
 */
export function plainValue(value: unknown, mask: (text: string) => string): Plain {
  return new Plainer(mask).plain(value);
}

class Plainer {
  readonly #mask: (text: string) => string;
  /** The objects around the one at hand: meeting one of them again is a circle. */
  readonly #around: object[] = [];

  constructor(mask: (text: string) => string) {
    this.#mask = mask;
  }

  plain(value: unknown): Plain {
    switch (typeof value) {
      case 'string':
        return this.#text(value);
      case 'number':
        return Number.isFinite(value) ? value : String(value);
      case 'boolean':
        return value;
      case 'object':
        return value === null ? null : this.#object(value);
      case 'undefined':
      case 'bigint':
      case 'symbol':
        return String(value);
      case 'function':
        return '(function)';
      default:
        return null;
    }
  }

  #text(text: string): string {
    const masked = this.#mask(text);
    return masked.length <= MAX_CHARACTERS ? masked : `${masked.slice(0, MAX_CHARACTERS)}… (${masked.length} characters)`;
  }

  #object(value: object): Plain {
    if (this.#around.includes(value)) return '(circular)';
    if (this.#around.length >= MAX_DEPTH) return '(too deep)';
    this.#around.push(value);
    try {
      return this.#inside(value);
    } catch {
      return '(unreadable)';
    } finally {
      this.#around.pop();
    }
  }

  #inside(value: object): Plain {
    if (value instanceof Error) return this.#error(value);
    if (value instanceof Date) return Number.isNaN(value.getTime()) ? '(invalid date)' : value.toISOString();
    if (value instanceof Uint8Array) return `(${value.byteLength} bytes)`;
    if (value instanceof Map) return this.#list([...value].slice(0, MAX_ITEMS), value.size);
    if (value instanceof Set) return this.#list([...value].slice(0, MAX_ITEMS), value.size);
    if (Array.isArray(value)) return this.#list(value.slice(0, MAX_ITEMS), value.length);
    return this.#fields(Object.entries(value));
  }

  #list(items: readonly unknown[], length: number): Plain {
    const plain = items.map((item) => this.plain(item));
    return length > MAX_ITEMS ? [...plain, `(${length - MAX_ITEMS} more)`] : plain;
  }

  #fields(entries: readonly (readonly [string, unknown])[]): Plain {
    const plain = entries
      .filter(([, value]) => value !== undefined)
      .slice(0, MAX_ITEMS)
      .map(([key, value]) => [this.#mask(key), isSecret(key, value) ? '****' : this.plain(value)] as const);
    return Object.fromEntries(plain);
  }

  #error(error: Error): Plain {
    const { name, message, stack, cause } = error;
    const { code } = error as { readonly code?: unknown };
    const errors = error instanceof AggregateError ? error.errors : undefined;
    return this.#fields(Object.entries({ name, code, message, stack, cause, errors }));
  }
}

function isSecret(name: string, value: unknown): boolean {
  return (typeof value === 'string' || typeof value === 'number') && value !== '' && isSecretName(name);
}

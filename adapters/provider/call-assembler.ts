/** Puts tool calls together from their streamed pieces. */
import type { ToolCallRequest } from '../../kernel/index.ts';
import type { JsonObject } from './json.ts';
import { isObject, objectAt } from './json.ts';

const KNOWN_FIELDS = new Set(['index', 'id', 'type', 'function']);

interface Call {
  id: string;
  name: string;
  argumentsJson: string;
  readonly extras: Map<string, unknown>;
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Some servers send arguments as an object instead of its text. */
const argumentsText = (value: unknown): string => (isObject(value) ? JSON.stringify(value) : text(value));

/** Does a piece that stands where `open` stands begin a call of its own? Names may come in parts, but never after arguments. */
function startsAnother(open: Call, index: number | undefined, id: string, name: string): boolean {
  if (id !== '' && open.id !== '' && id !== open.id) return true;
  if (name === '' || open.name === '') return false;
  if (name !== open.name) return open.argumentsJson !== '';
  return index === undefined && id === '';
}

/**
 * Collects tool calls. Servers differ: pieces with an index, without one, with the id in each piece, whole calls at once, or several whole
 * calls under the same index.
 */
export class CallAssembler {
  readonly #calls: Call[] = [];
  readonly #byIndex = new Map<number, Call>();
  #last: Call | undefined;

  /** Takes the `tool_calls` of one delta or of a whole message. */
  take(pieces: unknown): void {
    if (!Array.isArray(pieces)) return;
    for (const piece of pieces) if (isObject(piece)) this.#takeOne(piece);
  }

  #takeOne(piece: JsonObject): void {
    const index = typeof piece['index'] === 'number' ? piece['index'] : undefined;
    const id = text(piece['id']);
    const fn = objectAt(piece, 'function') ?? {};
    const name = text(fn['name']);
    const call = this.#open(index, id, name);
    if (call.id === '') call.id = id;
    if (name !== call.name) call.name += name;
    call.argumentsJson += argumentsText(fn['arguments']);
    for (const [field, value] of Object.entries(piece)) {
      if (!KNOWN_FIELDS.has(field) && value !== null && value !== undefined) call.extras.set(field, value);
    }
  }

  #open(index: number | undefined, id: string, name: string): Call {
    const open = index === undefined ? this.#last : this.#byIndex.get(index);
    if (open !== undefined && !startsAnother(open, index, id, name)) return open;
    const call: Call = { id: '', name: '', argumentsJson: '', extras: new Map() };
    this.#calls.push(call);
    this.#last = call;
    if (index !== undefined) this.#byIndex.set(index, call);
    return call;
  }

  /** The calls in order; `decode` gives a wire name's real one. */
  calls(decode: (name: string) => string): readonly ToolCallRequest[] {
    return this.#calls.map(({ id, name, argumentsJson }) => ({ id, name: decode(name), argumentsJson }));
  }

  /** Unknown fields of each call, in the same order; undefined when no call has any. */
  extras(): readonly JsonObject[] | undefined {
    if (this.#calls.every((call) => call.extras.size === 0)) return undefined;
    return this.#calls.map((call): JsonObject => Object.fromEntries(call.extras));
  }
}

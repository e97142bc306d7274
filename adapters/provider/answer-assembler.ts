/** Puts a model's answer together from the chunks of a stream, or from one whole answer. */
import type { LlmReply, Usage } from '../../kernel/index.ts';
import { CallAssembler } from './call-assembler.ts';
import type { JsonObject } from './json.ts';
import { isObject, objectAt } from './json.ts';
import { NO_USAGE, usageFrom } from './usage.ts';

/** Fields that are read here, and fields of answers that no server wants back. Everything else is echoed. */
const KNOWN_FIELDS = new Set(['role', 'content', 'tool_calls', 'refusal', 'function_call', 'name', 'annotations', 'audio']);

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((part) => (isObject(part) && typeof part['text'] === 'string' ? part['text'] : '')).join('');
}

/** Streamed fields grow: texts and lists are appended, anything else is replaced. */
function grown(before: unknown, piece: unknown): unknown {
  if (typeof before === 'string' && typeof piece === 'string') return before + piece;
  if (Array.isArray(before) && Array.isArray(piece)) {
    for (const item of piece as readonly unknown[]) before.push(item);
    return before;
  }
  return piece;
}

const isEmpty = (value: unknown): boolean =>
  value === null || value === undefined || value === '' || (Array.isArray(value) && value.length === 0);

/** All of an answer but its text, which whoever reads it passes on and keeps. Only the first choice counts: one is asked for. */
export class AnswerAssembler {
  readonly #calls = new CallAssembler();
  readonly #echo = new Map<string, unknown>();
  #usage: Usage = NO_USAGE;
  #finishReason: string | undefined;
  #hasChoice = false;

  /** Takes one chunk and returns the text that it adds. */
  take(chunk: JsonObject): string {
    if (isObject(chunk['usage'])) this.#usage = usageFrom(chunk['usage']);
    const choices: unknown = chunk['choices'];
    if (!Array.isArray(choices)) return '';
    let added = '';
    for (const choice of choices) {
      if (!isObject(choice) || (typeof choice['index'] === 'number' && choice['index'] !== 0)) continue;
      this.#hasChoice = true;
      if (typeof choice['finish_reason'] === 'string' && choice['finish_reason'] !== '') this.#finishReason = choice['finish_reason'];
      const part = objectAt(choice, 'delta') ?? objectAt(choice, 'message');
      if (part !== undefined) added += this.#takePart(part);
    }
    return added;
  }

  #takePart(part: JsonObject): string {
    const added = textOf(part['content']) + textOf(part['refusal']);
    this.#calls.take(part['tool_calls']);
    for (const field in part) {
      if (KNOWN_FIELDS.has(field) || isEmpty(part[field])) continue;
      this.#echo.set(field, grown(this.#echo.get(field), part[field]));
    }
    return added;
  }

  get hasChoice(): boolean {
    return this.#hasChoice;
  }

  /** The provider said that the answer is complete; only usage can follow. */
  get isComplete(): boolean {
    return this.#finishReason !== undefined;
  }

  /** The answer so far; `decode` gives a wire tool name's real one, and `content` is the text of all chunks. */
  reply(content: string, decode: (name: string) => string): LlmReply {
    const callExtras = this.#calls.extras();
    const echo = { ...Object.fromEntries(this.#echo), ...(callExtras && { tool_calls: callExtras }) };
    return {
      content,
      toolCalls: this.#calls.calls(decode),
      finishReason: this.#finishReason ?? '',
      usage: this.#usage,
      ...(Object.keys(echo).length > 0 && { echo }),
    };
  }
}

/** Reads the body of a chat answer: a stream of events, or one JSON object from servers that do not stream. */
import type { LlmReply } from '../../kernel/index.ts';
import { AnswerAssembler } from './answer-assembler.ts';
import { CallFailure } from './call-failure.ts';
import type { FailureWriter } from './call-failure.ts';
import { joinedText } from './joined-text.ts';
import { EventSplitter } from './event-splitter.ts';
import { isObject, parsedJson } from './json.ts';
import { Utf8Decoder } from './utf8-decoder.ts';
import type { DecodeName } from './request-body.ts';

/** More than any model says in one answer: 250,000 pieces of one token each, every one in an event of its own. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

type Form = 'unknown' | 'events' | 'json' | 'page';

/**
 * Reads to the end and returns the whole answer. `onDelta` gets at most one text for each piece of the body, and all of them together are
 * `content`. Throws CallFailure for anything that is no complete answer, and what the body throws before the answer was complete.
 */
export async function readAnswer(
  body: AsyncIterable<Uint8Array>,
  decode: DecodeName,
  onDelta: (text: string) => void,
  failures: FailureWriter,
): Promise<LlmReply> {
  const reader = new AnswerReader(onDelta, failures);
  const decoder = new Utf8Decoder();
  let bytes = 0;
  try {
    for await (const chunk of body) {
      bytes += chunk.length;
      if (bytes > MAX_ANSWER_BYTES) throw new CallFailure(failures.protocol('sent an answer of more than 64 MB'));
      reader.push(decoder.push(chunk));
      if (reader.isOver) break;
    }
    reader.end(decoder.end());
  } catch (error) {
    // The last chunk carries usage only: an answer is not lost with it.
    if (error instanceof CallFailure || !reader.isComplete) throw error;
  }
  return reader.reply(decode);
}

class AnswerReader {
  readonly #onDelta: (text: string) => void;
  readonly #failures: FailureWriter;
  readonly #assembler = new AnswerAssembler();
  readonly #splitter = new EventSplitter();
  #form: Form = 'unknown';
  #json: string[] = [];
  #heldBack = '';
  /** The very strings that were sent, so that a long answer is in memory once. */
  readonly #content: string[] = [];
  #isOver = false;

  constructor(onDelta: (text: string) => void, failures: FailureWriter) {
    this.#onDelta = onDelta;
    this.#failures = failures;
  }

  /** Nothing that matters follows. */
  get isOver(): boolean {
    return this.#isOver;
  }

  get isComplete(): boolean {
    return this.#assembler.isComplete;
  }

  push(text: string): void {
    if (this.#form === 'unknown') this.#form = formOf(text);
    if (this.#form === 'page') throw this.#failure('answered with a web page instead of a model answer');
    if (this.#form === 'json') this.#json.push(text);
    if (this.#form === 'events') this.#take(this.#splitter.push(text));
  }

  end(rest: string): void {
    this.push(rest);
    if (this.#form === 'json') this.#take([this.#json.join('')]);
    if (this.#form === 'events' && !this.#isOver) this.#take(this.#splitter.end());
  }

  /** Sends what was held back. */
  reply(decode: DecodeName): LlmReply {
    if (this.#form === 'unknown') throw this.#failure('sent an empty answer');
    if (!this.#assembler.hasChoice) throw this.#failure('sent an answer without choices');
    if (!this.#assembler.isComplete) throw this.#failure('ended its answer before it was complete');
    this.#send(this.#heldBack);
    return this.#assembler.reply(joinedText(this.#content), decode);
  }

  #take(payloads: readonly string[]): void {
    const texts = [this.#heldBack];
    for (const payload of payloads) {
      if (payload.trim() === '[DONE]') {
        this.#isOver = true;
        break;
      }
      const chunk = parsedJson(payload);
      if (!isObject(chunk)) throw this.#failure('sent something that is not JSON where a model answer belongs');
      if (chunk['error'] !== undefined && chunk['error'] !== null) throw new CallFailure(this.#failures.reported(chunk['error']));
      texts.push(this.#assembler.take(chunk));
    }
    // One flat string: what is added up piece by piece keeps every piece.
    const added = texts.join('');
    // Half a surrogate pair waits for its other half: alone it would be lost in UTF-8.
    const whole = endsInHalfPair(added) ? added.slice(0, -1) : added;
    this.#heldBack = added.slice(whole.length);
    this.#send(whole);
  }

  #send(text: string): void {
    if (text === '') return;
    this.#content.push(text);
    this.#onDelta(text);
  }

  #failure(what: string): CallFailure {
    return new CallFailure(this.#failures.protocol(what));
  }
}

function formOf(text: string): Form {
  const start = text.trimStart();
  if (start === '') return 'unknown';
  if (start.startsWith('<')) return 'page';
  return start.startsWith('{') || start.startsWith('[') ? 'json' : 'events';
}

function endsInHalfPair(text: string): boolean {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last <= 0xdbff;
}

/** The body of a chat request. */
import type { AssistantMessage, LlmRequest, Message, ToolSchema } from '../../kernel/index.ts';
import { isObject } from './json.ts';
import { wireName } from './wire-names.ts';

/** Gives a wire tool name's real one. */
export type DecodeName = (wire: string) => string;

interface Offer {
  readonly json: string;
  readonly decode: DecodeName;
}

const NOTHING_OFFERED: Offer = { json: '', decode: (wire) => wire };

function offerOf(tools: readonly ToolSchema[]): Offer {
  const names = new Map(tools.map(({ name }) => [wireName(name), name]));
  const functions = tools.map(({ name, description, parameters }) => ({
    type: 'function',
    function: { name: wireName(name), description, parameters },
  }));
  return { json: JSON.stringify(functions), decode: (wire) => names.get(wire) ?? wire };
}

function assistantOf(message: AssistantMessage, provider: string): object {
  const echo = message.echo?.provider === provider ? message.echo.fields : {};
  const { tool_calls: callExtras, ...fields } = echo;
  const extras: readonly unknown[] = Array.isArray(callExtras) ? callExtras : [];
  if (message.toolCalls.length === 0) return { ...fields, role: 'assistant', content: message.content };
  return {
    ...fields,
    role: 'assistant',
    content: message.content === '' ? null : message.content,
    tool_calls: message.toolCalls.map(({ id, name, argumentsJson }, at) => ({
      ...(isObject(extras[at]) ? extras[at] : {}),
      id,
      type: 'function',
      // Servers parse the arguments of earlier calls, and refuse the whole request for a text that is no JSON object.
      function: { name: wireName(name), arguments: argumentsOf(argumentsJson) },
    })),
  };
}

function argumentsOf(text: string): string {
  try {
    return isObject(JSON.parse(text)) ? text : '{}';
  } catch {
    return '{}';
  }
}

function wireMessage(message: Message, provider: string): object {
  if (message.role === 'assistant') return assistantOf(message, provider);
  if (message.role === 'user') return { role: 'user', content: message.content };
  return { role: 'tool', tool_call_id: message.toolCallId, content: message.content };
}

/**
 * Writes bodies for one provider. The text of a message and of a set of tools is kept as long as the object itself, so a long conversation
 * is serialised once, not once per call.
 */
export class RequestWriter {
  readonly #provider: string;
  readonly #messages = new WeakMap<Message, string>();
  readonly #offers = new WeakMap<readonly ToolSchema[], Offer>();

  constructor(provider: string) {
    this.#provider = provider;
  }

  /** The body as JSON text, and how to read tool names in the answer. */
  write(request: LlmRequest): { readonly body: string; readonly decode: DecodeName } {
    const offer = this.#offer(request.tools);
    const messages = request.messages.map((message) => this.#message(message));
    if (request.system !== '') messages.unshift(JSON.stringify({ role: 'system', content: request.system }));
    const body = [
      `"model":${JSON.stringify(request.model)}`,
      `"messages":[${messages.join(',')}]`,
      ...(request.temperature === undefined ? [] : [`"temperature":${JSON.stringify(request.temperature)}`]),
      ...(offer.json === '' ? [] : [`"tools":${offer.json}`]),
      '"stream":true',
      '"stream_options":{"include_usage":true}',
    ];
    return { body: `{${body.join(',')}}`, decode: offer.decode };
  }

  #offer(tools: readonly ToolSchema[]): Offer {
    if (tools.length === 0) return NOTHING_OFFERED;
    const known = this.#offers.get(tools);
    if (known) return known;
    const offer = offerOf(tools);
    this.#offers.set(tools, offer);
    return offer;
  }

  #message(message: Message): string {
    const known = this.#messages.get(message);
    if (known !== undefined) return known;
    const json = JSON.stringify(wireMessage(message, this.#provider));
    this.#messages.set(message, json);
    return json;
  }
}

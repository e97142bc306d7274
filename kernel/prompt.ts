/** The system prompt: parts in order, static ones first, so that a provider's prefix cache holds as long as possible. */
import type { PromptPart, ReadonlyRegistry, Turn } from './contract/index.ts';

/** Where the body of AGENT.md stands among the parts. */
const INSTRUCTIONS_ORDER = 20;

/** Builds system prompts from the extension point `promptPart` and the agent's own instructions. */
export class SystemPrompt {
  readonly #registry: ReadonlyRegistry<PromptPart>;
  #parts: readonly PromptPart[] = [];
  #version = -1;

  constructor(registry: ReadonlyRegistry<PromptPart>) {
    this.#registry = registry;
  }

  /** The prompt for the turn as it is now; "" when no part has anything to say. Rejects when a part throws. */
  async render(turn: Turn): Promise<string> {
    const texts: string[] = [];
    for (const part of this.#sorted()) {
      const rendered = part.render(turn);
      const text = typeof rendered === 'object' ? await rendered : rendered;
      if (text !== undefined && text.trim() !== '') texts.push(text);
    }
    return texts.join('\n');
  }

  #sorted(): readonly PromptPart[] {
    if (this.#version === this.#registry.version) return this.#parts;
    this.#version = this.#registry.version;
    const parts = [...this.#registry.list(), instructions];
    this.#parts = parts.sort((a, b) => a.order - b.order || a.name.localeCompare(b.name));
    return this.#parts;
  }
}

const instructions: PromptPart = { name: 'instructions', order: INSTRUCTIONS_ORDER, render: (turn) => turn.agent.instructions };

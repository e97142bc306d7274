/** Short forms for what tools and guards return. */
import type { Refusal, ToolResult } from './contract/index.ts';

/** A success; `content` is what the model reads. */
export const ok = (content: string): ToolResult => ({ success: true, content });

/** A failure. `retryable` (default true): the model may try again; otherwise the turn ends here. */
export const fail = (errorMessage: string, options: { readonly retryable?: boolean } = {}): ToolResult => ({
  success: false,
  errorMessage,
  retryable: options.retryable ?? true,
});

/** A guard's no. The message names the list or rule and what would have to be added. */
export const refuse = (blockedBy: string, message: string): Refusal => ({ blockedBy, message });

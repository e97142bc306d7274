import { invalidInput } from '../../kernel/index.ts';

const MAX_LENGTH = 32_768;

/** Body of every message endpoint. JSON Schema counts code points; `checkContent` has the exact limit. */
export const messageBody = {
  type: 'object',
  properties: { content: { type: 'string', minLength: 1, maxLength: MAX_LENGTH } },
  required: ['content'],
} as const;

/** Throws ORYX_INVALID_INPUT unless the text is something to say: 1 to 32 768 UTF-16 units and not only white space. */
export function checkContent(content: string, field = 'content'): void {
  if (content.length > MAX_LENGTH) throw invalidInput(`${field} must not be longer than ${MAX_LENGTH} characters`);
  if (content.trim() === '') throw invalidInput(`${field} must not be blank`);
}

import type { Tool } from '../../kernel/index.ts';
import { defineTool, fail, ok } from '../../kernel/index.ts';
import type { Sessions } from '../sessions/contract.ts';

/** Below what the model sees of any result uncut, with room for the last line. */
const MAX_PAGE_CHARS = 30_000;

/** `read_result`: the rest of a result that was too long to be shown whole. */
export const readResultTool = (sessions: Pick<Sessions, 'resultOf'>): Tool =>
  defineTool({
    name: 'read_result',
    description:
      'Read a part of an earlier tool result of this session that was shown with its middle left out. Give the id that the cut names. Returns ' +
      'up to 30000 characters from the offset, and a last line in brackets that tells how to go on; "(end of result)" when nothing is left.',
    readOnly: true,
    idempotent: true,
    aliases: { tool_call_id: 'id', toolCallId: 'id' },
    input: {
      type: 'object',
      properties: {
        id: { type: 'string', minLength: 1, description: 'The id of the tool call.' },
        offset: { type: 'integer', minimum: 0, maximum: 2_147_483_647, description: 'How many characters to skip. Default 0.' },
        limit: {
          type: 'integer',
          minimum: 1,
          maximum: 2_147_483_647,
          description: 'How many characters to read. Default and maximum 30000.',
        },
      },
      required: ['id'],
      additionalProperties: false,
    },
    async execute({ id, offset = 0, limit = MAX_PAGE_CHARS }, run) {
      const text = run.resultOf(id) ?? (await sessions.resultOf(run.turn, id));
      if (text === undefined) return fail(`No tool result with id ${JSON.stringify(id)} in this session`);
      return ok(pageOf(text, offset, Math.min(limit, MAX_PAGE_CHARS)));
    },
  });

function pageOf(text: string, offset: number, limit: number): string {
  const start = isSplit(text, offset) ? offset - 1 : offset;
  if (start >= text.length) return '(end of result)';
  const wanted = Math.min(start + limit, text.length);
  const end = isSplit(text, wanted) ? wanted + 1 : wanted;
  const page = text.slice(start, end);
  if (end === text.length) return page;
  return `${page}\n[cut: characters ${start}-${end} of ${text.length} are shown; go on with offset ${end}]`;
}

/** True between the two halves of one character. */
function isSplit(text: string, at: number): boolean {
  const [before, behind] = [text.charCodeAt(at - 1), text.charCodeAt(at)];
  return before >= 0xd800 && before <= 0xdbff && behind >= 0xdc00 && behind <= 0xdfff;
}

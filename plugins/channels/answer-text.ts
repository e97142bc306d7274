import type { TurnOutcome } from '../../kernel/index.ts';

const MAX_REASON_CHARS = 300;

/** For what cannot be read as text. */
export const NOT_TEXT = 'Sorry, I can only read text messages.';
/** For a text that no agent takes. */
export const TOO_LONG = 'Sorry, this message is too long for me. Please send it in smaller parts.';

/**
 * What a person is answered when a run has ended: what the agent said, or in a few words why there is no answer.
 *
 * @param mask  hides secrets in reasons
 */
export function answerText({ status, reply, error }: TurnOutcome, mask: (text: string) => string): string {
  if (status === 'completed') return reply.trim() === '' ? 'Done. (The agent had nothing to say.)' : reply;
  if (error?.code === 'ORYX_CANCELLED') return 'This request was stopped before it was finished.';
  return `Sorry, this request could not be finished: ${cut(mask(error?.message ?? 'Internal server error'))}`;
}

/** Never between the halves of a surrogate pair. */
const cut = (text: string): string =>
  text.length <= MAX_REASON_CHARS ? text : `${text.slice(0, MAX_REASON_CHARS).replace(/[\ud800-\udbff]$/, '')}…`;

/** Speaks to any server that takes a message as JSON. */
import { createHmac } from 'node:crypto';
import type { NotifyAdapter } from '../../kernel/index.ts';
import { configProblem, secretOf } from './configuration.ts';
import { postJson, statusFailure } from './post-json.ts';

/** Proof for the receiver that a message comes from who knows the secret, and when it was sent. */
function signatureOf(secret: string, at: number, body: string): Readonly<Record<string, string>> {
  const timestamp = String(Math.floor(at / 1000));
  const hex = createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex');
  return { 'x-oryx-timestamp': timestamp, 'x-oryx-signature': `sha256=${hex}` };
}

/**
 * `{"content": …}` to the URL of the channel, signed when it has a `secret`. Any 2xx is success. The header
 * `Idempotency-Key` is the same for the same message, so a receiver can tell a repetition.
 */
export const webhookAdapter: NotifyAdapter = {
  name: 'webhook',
  repeatable: true,
  configProblem,
  async send({ content, key, at }, target, http, signal) {
    const body = JSON.stringify({ content });
    const secret = secretOf(target.config);
    const signature = secret === undefined ? {} : signatureOf(secret, at, body);
    const headers = { ...signature, 'idempotency-key': key };
    const post = { label: 'the webhook', target, body, at, headers };
    const posted = await postJson(post, http, signal);
    if (!posted.ok) return posted;
    return statusFailure(post, posted.answer) ?? { ok: true };
  },
};

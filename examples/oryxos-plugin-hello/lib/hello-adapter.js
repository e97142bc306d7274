// @ts-check

/**
 * The channel type `hello`: posts `{"greeting": "…"}` to the URL of the channel.
 *
 * An adapter translates and nothing else: OryxOS keeps the message on disk, waits for its turn, sends it again when that is right, and cuts
 * it into parts when it is longer than `maxSize`. Failures that the adapter understands are values; what `send` throws counts as "it may have
 * arrived", and is tried again here because `repeatable` promises that the receiver knows a key that it has seen.
 *
 * @returns {import('oryxos').NotifyAdapter}
 */
export const helloAdapter = () => ({
  name: 'hello',
  maxSize: 1000,
  repeatable: true,
  async send({ content, key }, { url }, http, signal) {
    const headers = { 'content-type': 'application/json', 'idempotency-key': key };
    const body = JSON.stringify({ greeting: content });
    const answer = await http.request({ method: 'POST', url, headers, body, signal, connectTimeoutMs: 10_000, readTimeoutMs: 20_000 });
    // Leaving the body gives the connection back.
    for await (const _ of answer.body) break;
    if (answer.status < 300) return { ok: true };
    return { ok: false, kind: answer.status < 500 ? 'refused' : 'later', message: `the greeter answered ${answer.status}` };
  },
});

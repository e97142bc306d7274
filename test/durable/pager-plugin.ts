/** A notify adapter for crash tests: it posts to the URL of the channel and knows nothing else. */
import { definePlugin, type Plugin } from '../../kernel/index.ts';

/** Channels of type "pager": 2xx is success, 503 is for later, anything else refused; no answer is no knowledge. */
export function pagerPlugin(): Plugin {
  return definePlugin({
    name: 'pager',
    setup(ctx) {
      ctx.register('notifyAdapter', {
        name: 'pager',
        maxSize: 20,
        async send({ content, key }, { url }, http, signal) {
          const headers = { 'content-type': 'text/plain', 'idempotency-key': key };
          const { status, body } = await http.request({ method: 'POST', url, headers, body: content, signal, connectTimeoutMs: 10_000 });
          for await (const _piece of body);
          if (status < 300) return { ok: true };
          return { ok: false, kind: status === 503 ? 'later' : 'refused', message: `the pager answered ${status}` };
        },
      });
    },
  });
}

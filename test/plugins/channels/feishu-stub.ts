/** The part of Feishu that bots see, on a port of the loopback interface. */
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request for a reply, as it arrived. */
export interface StubReply {
  readonly messageId: string;
  readonly text: string;
  readonly uuid: string;
  readonly token: string;
}

/** What the stub says to a request for a reply. */
export interface StubAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: unknown;
  /** Takes the message and cuts the connection instead of answering. */
  readonly cut?: boolean;
}

/** A stand-in for open.feishu.cn. */
export interface FeishuStub extends AsyncDisposable {
  readonly url: string;
  /** Every attempt at a reply. */
  readonly attempts: readonly StubReply[];
  /** What people see: a `uuid` is shown once. */
  readonly shown: readonly StubReply[];
  /** Requests for a token, with what they were asked with. */
  readonly tokens: readonly { readonly appId: unknown; readonly appSecret: unknown }[];
  /** The next replies are answered so, in order; then they succeed. */
  will(...answers: readonly StubAnswer[]): void;
  /** The next requests for a token are answered so, in order. */
  willForToken(...answers: readonly StubAnswer[]): void;
  /** Tokens that were given out are not taken any more. */
  expireTokens(): void;
  /** Replies wait until it is called again with false. */
  hold(isHeld: boolean): void;
  /** Replies that wait. */
  readonly held: number;
  /** When false, nobody is told who the bot is. */
  knowsBot: boolean;
}

/** The bot of the fixtures. */
export const BOT_ID = 'ou_bot00000000000000000000000000001';

/** Starts one. Hold it with `await using`. */
export async function startFeishuStub(): Promise<FeishuStub> {
  const attempts: StubReply[] = [];
  const shown: StubReply[] = [];
  const tokens: { appId: unknown; appSecret: unknown }[] = [];
  const script: StubAnswer[] = [];
  const tokenScript: StubAnswer[] = [];
  const valid = new Set<string>();
  let waiting: (() => void)[] | undefined;

  function tokenAnswer(body: Record<string, unknown>): StubAnswer {
    tokens.push({ appId: body['app_id'], appSecret: body['app_secret'] });
    const scripted = tokenScript.shift();
    if (scripted !== undefined) return scripted;
    const token = `t-stub-${tokens.length}`;
    valid.add(token);
    return { body: { code: 0, msg: 'ok', tenant_access_token: token, expire: 7200 } };
  }

  function replyAnswer(messageId: string, token: string, body: Record<string, unknown>): StubAnswer {
    const { text } = JSON.parse(String(body['content'])) as { text: string };
    const reply = { messageId, text, uuid: String(body['uuid']), token };
    attempts.push(reply);
    const scripted = script.shift();
    const isTaken = scripted === undefined || scripted.cut === true || (scripted.body as { readonly code?: unknown }).code === 0;
    if (!isTaken) return scripted;
    if (!shown.some(({ uuid }) => uuid === reply.uuid)) shown.push(reply);
    return scripted ?? { body: { code: 0, msg: 'success', data: { message_id: `om_reply_${attempts.length}` } } };
  }

  async function answer(method: string, path: string, headers: IncomingHttpHeaders, text: string): Promise<StubAnswer> {
    const body = (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>;
    if (path === '/open-apis/auth/v3/tenant_access_token/internal') return tokenAnswer(body);
    const token = (headers.authorization ?? '').replace('Bearer ', '');
    if (!valid.has(token)) return { status: 400, body: { code: 99991663, msg: 'Invalid access token for authorization.' } };
    if (method === 'GET' && path === '/open-apis/bot/v3/info') {
      if (!stub.knowsBot) return { status: 500, body: {} };
      return { body: { code: 0, msg: 'ok', bot: { app_name: 'Helper', open_id: BOT_ID } } };
    }
    const messageId = /^\/open-apis\/im\/v1\/messages\/([^/]+)\/reply$/.exec(path)?.[1];
    if (messageId === undefined) return { status: 404, body: {} };
    if (waiting !== undefined) await new Promise<void>((resolve) => waiting?.push(resolve));
    return replyAnswer(messageId, token, body);
  }

  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      void answer(request.method ?? '', request.url ?? '', request.headers, Buffer.concat(chunks).toString()).then((said) => {
        if (said.cut === true) return response.destroy();
        response.writeHead(said.status ?? 200, { 'content-type': 'application/json', ...said.headers });
        return response.end(JSON.stringify(said.body));
      });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const stub: FeishuStub = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    attempts,
    shown,
    tokens,
    will: (...answers) => void script.push(...answers),
    willForToken: (...answers) => void tokenScript.push(...answers),
    expireTokens: () => valid.clear(),
    hold(isHeld) {
      const held = waiting ?? [];
      waiting = isHeld ? held : undefined;
      if (!isHeld) for (const go of held) go();
    },
    get held() {
      return waiting?.length ?? 0;
    },
    knowsBot: true,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return stub;
}

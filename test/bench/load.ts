/** The load generator: a client that keeps its connections and checks every answer. */
import { Agent, request as send } from 'node:http';

/** One answer as the client saw it; times in milliseconds. */
export interface Answered {
  readonly text: string;
  /** From sending the request to the first byte that holds a token; undefined when there was no stream. */
  readonly firstTokenMs: number | undefined;
}

/** Speaks to one server. */
export interface Client {
  /** Opens that many new sessions, eight at a time. */
  open(count: number): Promise<readonly string[]>;
  /** One turn in each session, `concurrency` at a time. Resolves with the answers in no particular order; throws for one that is wrong. */
  turns(sessions: readonly string[], options: TurnOptions): Promise<readonly Answered[]>;
  close(): void;
}

/** What is said, how, and what the answer must hold. */
export interface TurnOptions {
  readonly concurrency: number;
  readonly content: string;
  readonly stream?: boolean;
  /** A piece of the answer without which it is wrong. */
  readonly expect: string;
}

let users = 0;

/** @param url  origin of the server */
export function clientOf(url: string): Client {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  const { hostname, port } = new URL(url);

  const post = (path: string, body: unknown, stream = false): Promise<Answered> =>
    new Promise((resolve, reject) => {
      const payload = JSON.stringify(body);
      const headers = {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(payload),
        ...(stream && { accept: 'text/event-stream' }),
      };
      const since = performance.now();
      const request = send({ hostname, port, path, method: 'POST', headers, agent }, (response) => {
        const pieces: string[] = [];
        let firstTokenMs: number | undefined;
        response.setEncoding('utf8');
        response.on('data', (piece: string) => {
          if (stream && firstTokenMs === undefined && piece.includes('event: token')) firstTokenMs = performance.now() - since;
          pieces.push(piece);
        });
        response.on('error', reject);
        response.on('end', () => {
          const text = pieces.join('');
          if (response.statusCode === 200) resolve({ text, firstTokenMs });
          else reject(new Error(`${path} answered ${response.statusCode}: ${text.slice(0, 500)}`));
        });
      });
      request.on('error', reject);
      request.end(payload);
    });

  return {
    async open(count) {
      const sessions: string[] = [];
      await inParallel(count, 8, async () => {
        users += 1;
        const { text } = await post('/api/v1/sessions', { profile: 'bench', userId: `user${users}` });
        sessions.push((JSON.parse(text) as { data: { sessionId: string } }).data.sessionId);
      });
      return sessions;
    },
    async turns(sessions, { concurrency, content, stream = false, expect }) {
      const answers: Answered[] = [];
      await inParallel(sessions.length, concurrency, async (index) => {
        const answer = await post(`/api/v1/sessions/${encodeURIComponent(sessions[index] ?? '')}/messages`, { content }, stream);
        if (!answer.text.includes(expect)) throw new Error(`an answer is wrong: ${answer.text.slice(0, 500)}`);
        answers.push(answer);
      });
      return answers;
    },
    close: () => agent.destroy(),
  };
}

async function inParallel(count: number, width: number, job: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) await job(next++);
  };
  await Promise.all(Array.from({ length: Math.min(width, count) }, worker));
}

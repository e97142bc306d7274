/** The kinds of input that every area has. */
import { execFileSync } from 'node:child_process';
import type { AttackInput } from './corpus.ts';
import { Unsupported, listOf } from './corpus.ts';
import type { Observation } from './observation.ts';
import { observedAnswer, observedResult } from './observation.ts';
import type { Meanings } from './placeholders.ts';
import { rawRequest } from './raw-http.ts';
import type { Stage } from './stage.ts';

/** Does what an input says. Something that only prepares the next input has no observations. */
export type Act = (
  input: AttackInput,
  stage: Stage,
  act: (input: AttackInput, more?: Meanings) => Promise<readonly Observation[]>,
) => Promise<readonly Observation[]>;

/** How each kind is done. Placeholders are filled in, but those of calls within calls. */
export const commonInputs: Readonly<Record<string, Act>> = {
  async tool(input, stage) {
    const { result, traceId } = await stage.call(String(input['tool']), input['args']);
    return [observedResult(result, traceId)];
  },

  async api(input, stage) {
    const { method, path, json, raw, headers = {} } = input as unknown as ApiInput;
    const unknown = ['raw_hex', 'gzip_bomb_bytes', 'chunked_bytes'].find((key) => key in input);
    if (unknown !== undefined) throw new Unsupported(`input api ${unknown}`);
    // Node's client would replace an empty Host by its own.
    const answer =
      headers['host'] === ''
        ? await rawRequest(portOf(stage), `${method} ${path} HTTP/1.1\r\nHost:\r\nConnection: close\r\n\r\n`)
        : await stage.host.request(method, path, raw ?? json, headers);
    if (answer.status === 404 && answer.message === 'Resource not found' && path.startsWith('/api/'))
      throw new Unsupported(`route ${method} ${path.split('?')[0]}`);
    return [observedAnswer(answer)];
  },

  async raw_http(input, stage) {
    const observed: Observation[] = [];
    for (const bytes of input['requests'] as readonly string[]) observed.push(observedAnswer(await rawRequest(portOf(stage), bytes)));
    return observed;
  },

  async parallel(input, _stage, act) {
    const runs = Array.from({ length: Number(input['n']) }, (_, index) => act(input['call'] as AttackInput, { I: String(index) }));
    const observed = (await Promise.all(runs)).flat();
    return input['then'] === undefined ? observed : act(input['then'] as AttackInput);
  },

  async sweep(input, _stage, act) {
    const [, prefix = '', low, high] = /^(.*?)(\d+)\.\.(\d+)$/.exec(String(input['paths'])) ?? [];
    if (low === undefined) throw new Unsupported(`sweep ${String(input['paths'])}`);
    const observed: Observation[] = [];
    for (let number = Number(low); number <= Number(high); number += 1) {
      observed.push(...(await act({ kind: 'tool', tool: input['tool'], args: { path: `${prefix}${number}` } })));
    }
    return observed;
  },

  async shell_harness(input) {
    execFileSync('sh', ['-c', listOf(input['cmd'] as string).join('\n')]);
    return [];
  },
};

const portOf = ({ host }: Stage): number => Number(new URL(host.url).port);

interface ApiInput {
  readonly method: string;
  readonly path: string;
  readonly json?: unknown;
  readonly raw?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The expectations that every area has. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Expectation } from './corpus.ts';
import { Unsupported, listOf } from './corpus.ts';
import type { Observation } from './observation.ts';
import type { Stage } from './stage.ts';

/** A case that has been played. */
export interface Scene {
  readonly stage: Stage;
  /** In the order of the inputs. */
  readonly observations: readonly Observation[];
  readonly durationMs: number;
  /** By how much the process has grown meanwhile, in MiB. */
  readonly grownMb: number;
}

/** Resolves with what is wrong. */
export type Check = (value: unknown, scene: Scene) => readonly string[] | Promise<readonly string[]>;

/** Words that are looked at for each observation, or for the last one. */
const EACH = new Set([
  'outcome',
  'retryable',
  'audit',
  'status',
  'status_not',
  'result_contains',
  'result_contains_any',
  'result_not_contains',
  'result_max_bytes',
  'each',
  'steps',
  'invariants',
]);

/** Everything in which one observation differs. */
export async function differences(expect: Expectation, observed: Observation, stage: Stage): Promise<readonly string[]> {
  const { text } = observed;
  const wrong: string[] = [];
  const say = (condition: boolean, what: string): void =>
    void (condition && wrong.push(`${what} (${observed.outcome}: ${text.slice(0, 300)})`));
  say(!outcomes(expect.outcome, observed), `is not ${expect.outcome}`);
  if (observed.outcome === 'deny') {
    say(observed.retryable !== false, 'a refusal must not be retryable');
    say(expect.outcome === 'deny' && observed.blockedBy === 'sandbox' && !text.includes('whitelist'), 'does not name the whitelist');
  }
  if (expect['retryable'] !== undefined) say(observed.retryable !== expect['retryable'], `retryable is ${observed.retryable}`);
  if (expect['audit'] !== undefined)
    wrong.push(...(await auditDifferences(expect['audit'] as Readonly<Record<string, unknown>>, observed, stage)));
  const statuses = listOf(expect['status'] as number | readonly number[] | undefined);
  if (statuses.length > 0) say(!statuses.includes(observed.status ?? 0), `status is ${observed.status}`);
  say(listOf(expect['status_not'] as readonly number[]).includes(observed.status ?? 0), `status is ${observed.status}`);
  if (observed.malformed !== undefined) say(true, observed.malformed);
  for (const part of listOf(expect['result_contains'] as readonly string[])) say(!text.includes(part), `lacks ${part}`);
  for (const part of listOf(expect['result_not_contains'] as readonly string[])) say(text.includes(part), `contains ${part}`);
  const any = listOf(expect['result_contains_any'] as readonly string[]);
  if (any.length > 0) say(!any.some((part) => text.includes(part)), `contains none of ${any.join(', ')}`);
  say(Buffer.byteLength(text) > Number(expect['result_max_bytes'] ?? Number.POSITIVE_INFINITY), 'is too long');
  return wrong;
}

function outcomes(expected: string | undefined, { outcome, text, status }: Observation): boolean {
  const isEmpty = outcome === 'allow' && ['(no matches)', '(empty directory)', ''].includes(text);
  const fits: Readonly<Record<string, boolean>> = {
    any: true,
    survive: outcome === 'allow' || status === undefined,
    empty: isEmpty,
    truncated: outcome === 'allow' && text.includes('[cut:'),
    // Over the API an error is an error.
    error: outcome === 'error' || outcome === 'reject',
  };
  return (expected ?? 'any').split('_or_').some((word) => fits[word] ?? word === outcome);
}

async function auditDifferences(
  expected: Readonly<Record<string, unknown>>,
  { traceId, blockedBy }: Observation,
  { host }: Stage,
): Promise<readonly string[]> {
  const rows = (await host.rows('tool_invocations')).filter((row) => row['trace_id'] === traceId);
  if (rows.length !== 1) return [`${rows.length} audit rows instead of one`];
  const [row] = rows;
  const wrong = Object.entries({ blocked_by: blockedBy ?? null, ...expected }).filter(
    ([key, value]) => row?.[key] !== (typeof value === 'boolean' ? Number(value) : value),
  );
  return wrong.map(([key, value]) => `audit ${key} is ${String(row?.[key])} instead of ${String(value)}`);
}

/** Words about the whole scene. */
const commonChecks: Readonly<Record<string, Check>> = {
  max_ms: (value, { durationMs }) => (durationMs > Number(value) ? [`took ${Math.round(durationMs)} ms`] : []),
  max_rss_mb: (value, { grownMb }) => (grownMb > Number(value) ? [`uses ${Math.round(grownMb)} MiB more`] : []),
  log_not_contains: (value, { stage }) =>
    listOf(value as readonly string[])
      .filter((part) => stage.logs.some((line) => line.includes(part)))
      .map((part) => `the log contains ${JSON.stringify(part)}`),
  fs: (value, { stage }) => (value as readonly (readonly string[])[]).flatMap((fact) => fileDifferences(fact, stage)),
};

function fileDifferences([what = '', path = '', content]: readonly string[], stage: Stage): readonly string[] {
  const read = (): Buffer | undefined => (existsSync(path) ? readFileSync(path) : undefined);
  const facts: Readonly<Record<string, () => boolean>> = {
    absent: () => !existsSync(path),
    exists: () => existsSync(path),
    content: () => read()?.toString() === content,
    hex: () => read()?.toString('hex') === content,
    unchanged: () => path === join(stage.host.root, 'agents/a1/AGENT.md') && read()?.toString() === stage.agentText,
  };
  const fact = facts[what];
  if (fact === undefined) throw new Unsupported(`expect fs ${what}`);
  return fact() ? [] : [`${path} is not ${what} ${content ?? ''}`];
}

/** Everything in which a scene differs from what the case expects. `more` are the words of the area. */
export async function sceneDifferences(
  expect: Expectation,
  scene: Scene,
  more: Readonly<Record<string, Check>>,
): Promise<readonly string[]> {
  const { observations, stage } = scene;
  const wrong: string[] = [];
  const steps = expect['steps'] as readonly (string | Expectation)[] | undefined;
  const isSequence = expect.outcome === 'sequence';
  const looked = expect['each'] === true || steps || isSequence ? observations : observations.slice(-1);
  for (const [index, observed] of looked.entries()) {
    const own = steps ? stepAt(steps, index) : isSequence ? { status: listOf(expect['status'] as number)[index] } : expect;
    wrong.push(...(await differences(own, observed, stage)).map((text) => `#${index} ${text}`));
  }
  for (const [word, value] of Object.entries(expect)) {
    const check = more[word] ?? commonChecks[word];
    if (check) wrong.push(...(await check(value, scene)));
    else if (!EACH.has(word)) throw new Unsupported(`expect ${word}`);
  }
  const { status } = await stage.host.request('GET', '/api/v1/health');
  return status === 200 ? wrong : [...wrong, `the server is not healthy: ${status}`];
}

/** What is expected of one element of a sequence; a word alone is its outcome. */
function stepAt(steps: readonly (string | Expectation)[], index: number): Expectation {
  const step = steps[index];
  return typeof step === 'string' ? { outcome: step } : (step ?? {});
}

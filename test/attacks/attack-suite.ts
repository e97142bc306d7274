/** The corpus as tests. */
import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../config/package-root.ts';
import { apiWords } from './api-runner.ts';
import { createRunner } from './case-runner.ts';
import type { AttackCase, RunCase } from './corpus.ts';
import { CannotRun, Unsupported, corpusDirectory, listOf, loadCorpus } from './corpus.ts';
import { fileWords } from './file-runner.ts';
import { ownCases } from './own-cases.ts';

/** Who plays the cases of an area: a runner, or a test file of its own. Other areas are played in the common words. */
const AREAS: Readonly<Record<string, RunCase | string>> = {
  FILE: createRunner(fileWords),
  API: createRunner(apiWords),
  SHELL: 'test/attacks/shell.test.ts',
  HTTP: 'test/attacks/http.test.ts',
  POLICY: 'test/attacks/policy.test.ts',
  SECRET: 'test/attacks/policy.test.ts',
  INJECT: 'test/attacks/policy.test.ts',
};
const inCommonWords = createRunner();

/** Kinds that take their time: races go on for seconds, the others wait, kill and fill. */
const SLOW = new Set(['race', 'kill_loop', 'fill_disk_then', 'slowloris']);
const isSlow = ({ input }: AttackCase): boolean => listOf(input).some(({ kind }) => SLOW.has(kind));

const [TIMEOUT_MS, SLOW_TIMEOUT_MS] = [60_000, 60 * 60_000];

/** What cases wait for, by their id. */
const waiting = JSON.parse(readFileSync(join(packageRoot, 'test/attacks/waiting.json'), 'utf8')) as Readonly<Record<string, string>>;

type Fate = 'held' | 'waiting' | 'open' | 'elsewhere' | 'not possible here';

/** Declares one test for each case: the slow ones, or the others. Afterwards the count by area is printed. */
export function describeAttacks(slow: boolean): void {
  const corpus = loadCorpus();
  if (corpus === undefined) {
    it(`is not run: there is no corpus in ${corpusDirectory}`);
    return;
  }
  const counts = new Map<string, Map<string, number>>();
  const count = ({ area, level }: AttackCase, fate: Fate): void => {
    const fates = counts.get(area) ?? new Map<string, number>();
    const what = `${level} ${fate}`;
    counts.set(area, fates.set(what, (fates.get(what) ?? 0) + 1));
  };
  const own = ownCases(slow);
  const played = ownCases(!slow);
  const isPlayedHere = (each: AttackCase): boolean =>
    own[each.id] !== undefined || (played[each.id] === undefined && isSlow(each) === slow);
  for (const testCase of corpus.filter(isPlayedHere)) {
    const runner = own[testCase.id] ?? AREAS[testCase.area] ?? inCommonWords;
    if (typeof runner === 'string') {
      count(testCase, 'elsewhere');
      continue;
    }
    it(`${testCase.area} ${testCase.id}: ${testCase.title} (${testCase.level})`, async function () {
      this.timeout(slow ? SLOW_TIMEOUT_MS : TIMEOUT_MS);
      const fate = await fateOf(testCase, runner);
      count(testCase, fate.kind);
      if (fate.kind === 'held') return;
      if (fate.reason !== '') console.log(`      ${fate.kind}: ${fate.reason}`);
      this.skip();
    });
  }
  it('waits for nothing that the corpus does not know', () => {
    const ids = new Set(corpus.map(({ id }) => id));
    expect(Object.keys(waiting).filter((id) => !ids.has(id))).to.deep.equal([]);
  });
  after(() => {
    for (const [area, fates] of counts) console.log(`    ${area}: ${[...fates].map(([fate, number]) => `${number} ${fate}`).join(', ')}`);
  });
}

/** Fails when a gating case does not hold, and when one that waits would hold by now. */
async function fateOf(testCase: AttackCase, run: RunCase): Promise<{ readonly kind: Fate; readonly reason: string }> {
  const { id, level } = testCase;
  const feature = waiting[id];
  const found = await run(testCase).catch((error: unknown) => error as Error);
  if (found instanceof CannotRun) return { kind: 'not possible here', reason: found.message };
  const isMissing = found instanceof Unsupported;
  if (found instanceof Error && !isMissing) throw found;
  const wrong = isMissing ? [found.message] : found;
  if (feature !== undefined) {
    expect(wrong, `${id} holds by now: take it out of test/attacks/waiting.json`).to.not.deep.equal([]);
    return { kind: 'waiting', reason: feature };
  }
  if (level === 'should' && wrong.length > 0) return { kind: 'open', reason: wrong.join('; ') };
  expect(wrong).to.deep.equal([]);
  return { kind: 'held', reason: '' };
}

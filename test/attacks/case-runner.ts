/** Plays cases on whole hosts. Each area adds the words that only it has. */
import type { AttackCase, AttackInput, RunCase } from './corpus.ts';
import { Unsupported, listOf } from './corpus.ts';
import type { Check, Scene } from './expectations.ts';
import { sceneDifferences } from './expectations.ts';
import type { Act } from './inputs.ts';
import { commonInputs } from './inputs.ts';
import type { Observation } from './observation.ts';
import type { Meanings } from './placeholders.ts';
import type { Stage } from './stage.ts';
import { openStage } from './stage.ts';

/** What an area adds. */
export interface AreaWords {
  /** Set-up keys beside fs, config and env. Run when the host is up; what is returned is undone at the end. */
  readonly setups?: Readonly<Record<string, (value: unknown, stage: Stage) => Promise<() => Promise<void>>>>;
  readonly inputs?: Readonly<Record<string, Act>>;
  readonly expects?: Readonly<Record<string, Check>>;
  /** The sentences of `expect.invariants` as code. */
  readonly invariants?: Readonly<Record<string, (scene: Scene) => readonly string[] | Promise<readonly string[]>>>;
}

const COMMON_SETUPS = new Set(['fs', 'config', 'env']);

/** A runner for cases in the common words and those of an area. */
export function createRunner(words: AreaWords = {}): RunCase {
  return async (testCase) => {
    const { setup, expect } = testCase;
    requireWords(testCase, words);
    await using stage = await openStage(testCase);
    const undo: (() => Promise<void>)[] = [];
    try {
      for (const [key, value] of Object.entries(setup)) {
        const prepare = words.setups?.[key];
        if (prepare) undo.push(await prepare(stage.fill(value), stage));
      }
      const act = async (input: AttackInput, more?: Meanings): Promise<readonly Observation[]> => {
        const kind = words.inputs?.[input.kind] ?? commonInputs[input.kind];
        if (kind === undefined) throw new Unsupported(`input ${input.kind}`);
        return kind(isNested(input) ? input : stage.fill(input, more), stage, act);
      };
      const [since, rssBefore] = [performance.now(), process.memoryUsage().rss];
      const observations: Observation[] = [];
      for (const input of listOf(testCase.input)) observations.push(...(await act(input)));
      const scene: Scene = {
        stage,
        observations,
        durationMs: performance.now() - since,
        grownMb: (process.memoryUsage().rss - rssBefore) / 2 ** 20,
      };
      const wrong = [...(await sceneDifferences(stage.fill(expect), scene, words.expects ?? {}))];
      for (const sentence of sentencesOf(testCase)) wrong.push(...((await words.invariants?.[sentence]?.(scene)) ?? []));
      return wrong;
    } finally {
      for (const each of undo.toReversed()) await each();
    }
  };
}

/** Calls within calls are filled in when they are made, each with its own number. */
const isNested = (input: AttackInput): boolean => 'call' in input;

/** Says at once what is missing, before anything is started. */
function requireWords(testCase: AttackCase, words: AreaWords): void {
  const { setup, input } = testCase;
  if (setup['requires'] !== undefined) throw new Unsupported(setup['requires'] as string);
  for (const key of Object.keys(setup)) if (!COMMON_SETUPS.has(key) && !words.setups?.[key]) throw new Unsupported(`setup ${key}`);
  for (const { kind } of listOf(input)) if (!words.inputs?.[kind] && !commonInputs[kind]) throw new Unsupported(`input ${kind}`);
  for (const sentence of sentencesOf(testCase)) if (!words.invariants?.[sentence]) throw new Unsupported(`invariant "${sentence}"`);
}

const sentencesOf = ({ expect }: AttackCase): readonly string[] => listOf(expect['invariants'] as readonly string[] | undefined);

/** Cases that are functions of their own, because what they need is a process, a crash or a broken disk. */
import { AssertionError } from 'chai';
import type { AttackCase, RunCase } from './corpus.ts';

/** A case as a function: what an assertion finds wrong becomes its problem; everything else is thrown. */
export function holds(play: (testCase: AttackCase) => Promise<void>): RunCase {
  return async (testCase) => {
    try {
      await play(testCase);
      return [];
    } catch (error) {
      if (error instanceof AssertionError) return [error.message];
      throw error;
    }
  };
}

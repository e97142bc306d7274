import { expect } from 'chai';
import { type PlannedCall, runInOrder } from '../../kernel/call-batches.ts';
import { fail, ok, type ToolResult } from '../../kernel/index.ts';
import { breathe } from '../harness/fake-clock.ts';

/** Calls whose ends the test decides; `events` tells what started. */
function stage(kinds: readonly ('r' | 'w')[]): {
  calls: PlannedCall[];
  started: number[];
  end: (index: number, result?: ToolResult) => void;
} {
  const started: number[] = [];
  const ends = new Map<number, (result: ToolResult) => void>();
  const calls = kinds.map((kind, index) => ({
    readOnly: kind === 'r',
    run: () => {
      started.push(index);
      return new Promise<ToolResult>((resolve) => ends.set(index, resolve));
    },
  }));
  return { calls, started, end: (index, result = ok(String(index))) => ends.get(index)?.(result) };
}

const never = (): boolean => false;
const isFatal = (result: ToolResult): boolean => !result.success && !result.retryable;

describe('calls of one answer', () => {
  it('run side by side while they are read-only, and one by one otherwise', async () => {
    const { calls, started, end } = stage(['r', 'r', 'w', 'r']);
    const all = runInOrder(calls, never);
    await breathe();
    expect(started).to.deep.equal([0, 1]);
    end(1);
    await breathe();
    expect(started).to.deep.equal([0, 1]);
    end(0);
    await breathe();
    expect(started).to.deep.equal([0, 1, 2]);
    end(2);
    await breathe();
    end(3);
    expect((await all).map((result) => result?.success && result.content)).to.deep.equal(['0', '1', '2', '3']);
  });

  it('run at most eight side by side', async () => {
    const { calls, started, end } = stage(Array.from({ length: 10 }, () => 'r'));
    const all = runInOrder(calls, never);
    await breathe();
    expect(started).to.have.length(8);
    end(3);
    await breathe();
    expect(started).to.have.length(9);
    for (let index = 0; index < 9; index += 1) end(index);
    await breathe();
    end(9);
    expect(await all).to.have.length(10);
  });

  it('start nothing new after a fatal result, while those in flight finish', async () => {
    const { calls, started, end } = stage(['r', 'r', 'w']);
    const all = runInOrder(calls, isFatal);
    await breathe();
    end(0, fail('no', { retryable: false }));
    await breathe();
    end(1);
    const results = await all;
    expect(started).to.deep.equal([0, 1]);
    expect(results.map((result) => result?.success)).to.deep.equal([false, true, undefined]);
  });
});

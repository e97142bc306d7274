/** A tool's run for tests of the services below tools: claims are written down, and judged by the test. */
import type { Claim, Refusal, ToolRun } from '../../../kernel/index.ts';
import { OryxError } from '../../../kernel/index.ts';

export interface TestRun {
  readonly run: ToolRun;
  readonly claims: Claim[];
  abort(reason: Error): void;
}

/** A run whose claims `judge` answers; without it everything is permitted. */
export function testRun(judge: (claim: Claim) => Refusal | undefined = () => undefined): TestRun {
  const claims: Claim[] = [];
  const controller = new AbortController();
  const run = {
    signal: controller.signal,
    turn: { id: 'turn-1' },
    key: 'key-1',
    async claim(claim: Claim) {
      claims.push(claim);
      const refusal = judge(claim);
      if (refusal) throw new OryxError('ORYX_REFUSED', refusal.message);
    },
  } as unknown as ToolRun;
  return { run, claims, abort: (reason) => controller.abort(reason) };
}

import type { ToolResult } from '../../kernel/index.ts';
import { fail, ok } from '../../kernel/index.ts';
import { FileProblem } from '../outside/contract.ts';

/** The text that `work` resolves with as a success, and a FileProblem as the failure that it is. Refusals of guards pass through. */
export async function fileResult(work: () => Promise<string>): Promise<ToolResult> {
  try {
    return ok(await work());
  } catch (error) {
    if (!(error instanceof FileProblem)) throw error;
    const { message, blockedBy } = error;
    return blockedBy === undefined ? fail(message) : { success: false, errorMessage: message, retryable: false, blockedBy };
  }
}

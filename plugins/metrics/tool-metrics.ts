import { Counter, type Registry } from 'prom-client';
import type { ToolCallRecord, ToolResult } from '../../kernel/index.ts';

/** Stands for every name that a model made up. */
const UNKNOWN = 'unknown';
const OUTCOMES = ['success', 'failed', 'blocked'] as const;

/** What is counted about tool calls, refused ones too. */
export interface ToolMetrics {
  /** Makes the series of a tool visible before it is first called. */
  know(tool: string): void;
  record(call: Pick<ToolCallRecord, 'tool' | 'toolName'>, result: ToolResult): void;
}

/** A call that a guard refused is `blocked`, whichever guard it was. */
export function toolMetrics(registry: Registry): ToolMetrics {
  const registers = [registry];
  const invocations = new Counter({
    name: 'oryxos_tool_invocations_total',
    help: 'Tool calls that ended.',
    labelNames: ['tool', 'outcome'],
    registers,
  });
  const blocks = new Counter({
    name: 'oryxos_policy_blocks_total',
    help: 'Tool calls that the tool policy refused.',
    labelNames: ['tool'],
    registers,
  });
  const know = (tool: string): void => {
    for (const outcome of OUTCOMES) invocations.inc({ tool, outcome }, 0);
    blocks.inc({ tool }, 0);
  };
  know(UNKNOWN);
  return {
    know,
    record({ tool: known, toolName }, result) {
      const tool = known === undefined ? UNKNOWN : toolName;
      invocations.inc({ tool, outcome: outcomeOf(result) });
      if (!result.success && result.blockedBy === 'policy') blocks.inc({ tool });
    },
  };
}

function outcomeOf(result: ToolResult): (typeof OUTCOMES)[number] {
  if (result.success) return 'success';
  return result.blockedBy === undefined ? 'failed' : 'blocked';
}

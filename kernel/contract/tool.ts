/** What a tool is, what it declares, and what it gets while it runs. */
import type { JsonSchema } from '../schema.ts';
import type { Turn } from './turn.ts';

/** Something in the outside world that a call will touch. Guards judge claims, never tool names. */
export interface Claim {
  readonly kind: 'file' | 'command' | 'url' | (string & {});
  readonly value: string;
  readonly access?: 'read' | 'write';
}

/** A guard's no. `blockedBy` is the guard's name; `message` names the list or rule and what an administrator would change. */
export interface Refusal {
  readonly blockedBy: string;
  readonly message: string;
}

/**
 * What a call brought. The model reads `content` or `errorMessage`; a failure that is not `retryable` ends the run unless the agent wants
 * it as feedback. `blockedBy` names the guard that refused the call.
 */
export type ToolResult =
  | { readonly success: true; readonly content: string }
  | { readonly success: false; readonly errorMessage: string; readonly retryable: boolean; readonly blockedBy?: string };

/** A call on its way: known tool, validated and frozen input. */
export interface ToolCall {
  /** Unique in the turn. */
  readonly id: string;
  readonly tool: Tool;
  readonly input: Readonly<Record<string, unknown>>;
  readonly turn: Turn;
  /** Arguments as the model sent them, for the audit. */
  readonly argumentsJson: string;
}

/** A call as observers see it, refused and unknown ones too: `tool` is missing when no such tool exists. */
export interface ToolCallRecord {
  readonly id: string;
  readonly toolName: string;
  readonly tool?: Tool;
  readonly argumentsJson: string;
  readonly turn: Turn;
}

/** What a running tool gets. */
export interface ToolRun {
  /** Aborts at the call's deadline, on cancel and at shutdown. */
  readonly signal: AbortSignal;
  readonly turn: Turn;
  readonly call: ToolCall;
  /** Idempotency key of this call, stable over restarts. */
  readonly key: string;
  /** Declares something that was found late (a redirect, a link's target). Throws ORYX_REFUSED, which the executor turns into the refusal. */
  claim(claim: Claim): Promise<void>;
  /** Asks the guards without ending the call: one that walks over many things passes over what this answers false for. */
  permits(claim: Claim): Promise<boolean>;
  /** The whole text of an earlier result that the model was sent in this run, whatever was cut from it there; undefined for an unknown id. */
  resultOf(toolCallId: string): string | undefined;
}

/** A tool. Authors write `defineTool`; the kernel holds this. */
export interface Tool {
  readonly name: string;
  readonly description: string | (() => string);
  readonly inputSchema: JsonSchema;
  /** Changes nothing: may run in parallel with its neighbours. */
  readonly readOnly?: boolean;
  /** May run again after a crash left its outcome unknown. A read-only tool always may. */
  readonly idempotent?: boolean;
  /** The server a tool comes from; "<source>:*" in an agent's `tools` covers it. */
  readonly source?: string;
  /** Deadline of one call in milliseconds (120 000); 0 means that the tool keeps its own. */
  readonly timeoutMs?: number;
  /** Other spellings of parameters that models use, e.g. `{ old_string: 'oldString' }`. */
  readonly aliases?: Readonly<Record<string, string>>;
  /** What the call will touch. Pure: no I/O, no throw. */
  // oxlint-disable-next-line typescript/no-explicit-any -- input types are erased, they exist only for the author
  claims?(input: any, turn: Turn): readonly Claim[];
  /** Must not throw for failures a model can act on: those are results. */
  // oxlint-disable-next-line typescript/no-explicit-any -- input types are erased, they exist only for the author
  execute(input: any, run: ToolRun): Promise<ToolResult>;
}

/** One tool call from the model's wish to a result: look up, validate, guard, claim, execute, observe. */
import type {
  Claim,
  Refusal,
  StepResult,
  Steps,
  ToolCall,
  ToolCallRecord,
  ToolCallRequest,
  ToolResult,
  ToolRun,
  Turn,
  TurnEvent,
} from './contract/index.ts';
import type { LoopHost } from './loop-host.ts';
import { OryxError, messageOf } from './errors.ts';
import { fail } from './result.ts';
import { parseArguments } from './tool-arguments.ts';
import { declaredTools, isDeclared } from './tool-set.ts';

/** Deadline of one call when the tool names none. */
const TOOL_TIMEOUT_MS = 120_000;
/** How long an aborted tool may take to return what it has. */
const ABORT_GRACE_MS = 1_000;

type Decision = { readonly call: ToolCall } | { readonly result: ToolResult };

/** Runs tool calls. Its one promise: no tool runs that the guards have not seen. */
export class ToolExecutor {
  readonly #host: LoopHost;

  constructor(host: LoopHost) {
    this.#host = host;
  }

  /** True when the call may run beside its neighbours. */
  isReadOnly(request: ToolCallRequest): boolean {
    return this.#host.registry('tool').get(request.name)?.readOnly === true;
  }

  /**
   * Runs one call inside the step `name`; every failure is a result.
   *
   * @param refusal  a result that stands already (too many calls): the call is recorded, not run
   */
  run(
    turn: Turn,
    name: string,
    request: ToolCallRequest,
    steps: Steps,
    emit: (event: TurnEvent) => void,
    refusal?: ToolResult,
  ): Promise<ToolResult> {
    const tool = this.#host.registry('tool').get(request.name);
    const record: ToolCallRecord = {
      id: request.id,
      toolName: request.name,
      argumentsJson: request.argumentsJson,
      turn,
      ...(tool && { tool }),
    };
    const idempotent = tool === undefined || tool.readOnly === true || tool.idempotent === true;
    return steps.step<ToolResult>(name, { idempotent, lost: () => this.#lost(record) }, async (key, begin) => {
      emit({ type: 'tool_start', name: request.name });
      const since = this.#host.clock.monotonic();
      const result = refusal ?? (await this.#execute(record, key, idempotent ? nothing : begin));
      emit({ type: 'tool_end', name: request.name, success: result.success });
      const rows = await this.#host.hooks.afterToolCall([], record, result, this.#host.clock.monotonic() - since);
      return { value: result, rows };
    });
  }

  async #execute(record: ToolCallRecord, key: string, begin: () => Promise<void>): Promise<ToolResult> {
    const decision = await this.#decide(record);
    if ('result' in decision) return decision.result;
    const { call } = decision;
    for (const claim of claimsOf(call)) {
      const refusal = await this.#host.hooks.onClaim(claim, call);
      if (refusal) return refused(refusal);
    }
    await begin();
    return this.#invoke(call, key);
  }

  /** Known, declared, valid, permitted, in that order. */
  async #decide(record: ToolCallRecord): Promise<Decision> {
    const { tool, toolName, turn } = record;
    if (!tool) return { result: fail(`Unknown tool: ${toolName}`) };
    if (!isDeclared(turn.agent, tool))
      return {
        result: refused({
          blockedBy: 'undeclared',
          message: `agent "${turn.agent.name}" does not declare the tool ${toolName} in its tools`,
        }),
      };
    const parsed = parseArguments(tool, record.argumentsJson);
    if (!parsed.ok) return { result: fail(`Bad arguments for ${toolName}: ${parsed.message}`) };
    const call: ToolCall = { id: record.id, tool, input: parsed.value, turn, argumentsJson: record.argumentsJson };
    const refusal = (await this.#host.hooks.beforeToolCall(call)) ?? (await this.#withdrawn(call));
    return refusal ? { result: refused(refusal) } : { call };
  }

  /** A tool that a plugin took off the model's list does not run either, whatever the model asks for. */
  async #withdrawn({ tool, turn }: ToolCall): Promise<Refusal | undefined> {
    const offered = await this.#host.hooks.selectTools(declaredTools(turn.agent, this.#host.registry('tool')), turn);
    if (offered.some(({ name }) => name === tool.name)) return undefined;
    return { blockedBy: 'policy', message: `the tool ${tool.name} is withdrawn from agent "${turn.agent.name}"` };
  }

  /** Runs the tool with its owner held in place, until it returns, its deadline passes or the turn is aborted. */
  async #invoke(call: ToolCall, key: string): Promise<ToolResult> {
    const { tool, turn, input } = call;
    const abort = new AbortController();
    const timeoutMs = tool.timeoutMs ?? TOOL_TIMEOUT_MS;
    let refusal: Refusal | undefined;
    const run: ToolRun = {
      signal: abort.signal,
      turn,
      call,
      key,
      claim: async (claim: Claim) => {
        refusal = await this.#host.hooks.onClaim(claim, call);
        if (refusal) throw new OryxError('ORYX_REFUSED', refusal.message);
      },
    };
    const running = this.#host
      .registry('tool')
      .use(tool.name, `tool ${tool.name}`, () => tool.execute(input, run))
      .then((result) => result ?? fail(`Unknown tool: ${tool.name}`))
      .catch((error: unknown) => this.#thrown(call, error, refusal));
    const ended = this.#bound(turn.signal, timeoutMs, abort, tool.name);
    try {
      return await Promise.race([running, ended.result]);
    } finally {
      ended.release();
    }
  }

  #thrown({ tool }: ToolCall, error: unknown, refusal: Refusal | undefined): ToolResult {
    if (refusal) return refused(refusal);
    this.#host.log.error('tool threw instead of returning a failure', { tool: tool.name, error });
    return fail(`${tool.name} failed: ${messageOf(error)}`);
  }

  /** Resolves when the call's time is over; `release` ends the watch. A turn that is aborted leaves the tool a moment to return by itself. */
  #bound(
    signal: AbortSignal,
    timeoutMs: number,
    abort: AbortController,
    toolName: string,
  ): { readonly result: Promise<ToolResult>; release(): void } {
    const { clock } = this.#host;
    const timers: (() => void)[] = [];
    let onAbort: () => void = () => undefined;
    const result = new Promise<ToolResult>((resolve) => {
      onAbort = () => {
        abort.abort(signal.reason);
        timers.push(
          clock.after(ABORT_GRACE_MS, () => resolve(fail(`${toolName} was stopped: ${messageOf(signal.reason)}`, { retryable: false }))),
        );
      };
      if (timeoutMs > 0) timers.push(clock.after(timeoutMs, () => expire(resolve, abort, toolName, timeoutMs)));
      if (signal.aborted) onAbort();
      signal.addEventListener('abort', onAbort, { once: true });
    });
    const release = (): void => {
      signal.removeEventListener('abort', onAbort);
      for (const cancel of timers) cancel();
    };
    return { result, release };
  }

  /** The result of a call that a crash cut off and that must not be repeated. */
  async #lost(record: ToolCallRecord): Promise<StepResult<ToolResult>> {
    const value = fail(
      `${record.toolName} was interrupted by a restart and its outcome is unknown: it may or may not have taken effect. Check before you repeat it.`,
    );
    return { value, rows: await this.#host.hooks.afterToolCall([], record, value, 0) };
  }
}

function expire(resolve: (result: ToolResult) => void, abort: AbortController, toolName: string, timeoutMs: number): void {
  resolve(fail(`${toolName} timed out after ${timeoutMs / 1000} s`, { retryable: false }));
  abort.abort(new OryxError('ORYX_TURN_TIMEOUT', `${toolName} timed out`));
}

function claimsOf({ tool, input, turn }: ToolCall): readonly Claim[] {
  return tool.claims?.(input, turn) ?? [];
}

function refused({ blockedBy, message }: Refusal): ToolResult {
  return { success: false, errorMessage: message, retryable: false, blockedBy };
}

const nothing = (): Promise<void> => Promise.resolve();

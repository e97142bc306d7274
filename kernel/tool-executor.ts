/** One tool call from the model's wish to a result: look up, validate, guard, claim, execute, observe. */
import type {
  ReadonlyRegistry,
  Tool,
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
import { callDeadline } from './call-deadline.ts';
import { isOryxError, OryxError, messageOf } from './errors.ts';
import { fail } from './result.ts';
import { parseArguments } from './tool-arguments.ts';
import { declaredTools, isDeclared } from './tool-set.ts';

/** Deadline of one call when the tool names none. */
const TOOL_TIMEOUT_MS = 120_000;

type Decision = { readonly call: ToolCall } | { readonly result: ToolResult };

/** What a run lends to its calls. */
export type Surroundings = Pick<ToolRun, 'resultOf'> & { readonly steps: Steps; readonly emit: (event: TurnEvent) => void };

/** The step that a call runs in. */
type CallStep = Pick<ToolRun, 'key' | 'resultOf'> & { readonly begin: () => Promise<void> };

/** Runs tool calls. Its one promise: no tool runs that the guards have not seen. */
export class ToolExecutor {
  readonly #host: LoopHost;

  constructor(host: LoopHost) {
    this.#host = host;
  }

  /** True when the call may run beside its neighbours. */
  isReadOnly(request: ToolCallRequest): boolean {
    return this.#tools.get(request.name)?.readOnly === true;
  }

  /**
   * Runs one call inside the step `name`; every failure is a result.
   *
   * @param given  a result that stands already (too many calls): the call is recorded, not run
   */
  run(turn: Turn, name: string, request: ToolCallRequest, around: Surroundings, given?: ToolResult): Promise<ToolResult> {
    const { steps, emit, resultOf } = around;
    const tool = this.#tools.get(request.name);
    // Frozen, as all that hooks are shown: they may refuse a call and record it, not change it.
    const record: ToolCallRecord = Object.freeze({
      id: request.id,
      toolName: request.name,
      argumentsJson: request.argumentsJson,
      turn,
      ...(tool && { tool }),
    });
    const idempotent = tool === undefined || tool.readOnly === true || tool.idempotent === true;
    return steps.step<ToolResult>(name, { idempotent, lost: () => this.#lost(record) }, async (key, begin) => {
      emit({ type: 'tool_start', name: request.name });
      const since = this.#host.clock.monotonic();
      const result = Object.freeze(
        given ?? (await this.#pinned(record, { key, resultOf, begin: idempotent ? () => Promise.resolve() : begin })),
      );
      emit({ type: 'tool_end', name: request.name, success: result.success });
      const rows = await this.#host.hooks.afterToolCall([], record, result, this.#host.clock.monotonic() - since);
      return { value: result, rows };
    });
  }

  get #tools(): ReadonlyRegistry<Tool> {
    return this.#host.registry('tool');
  }

  /** The very tool that was looked up is judged and run, its owner held in place all the while. */
  async #pinned(record: ToolCallRecord, step: CallStep): Promise<ToolResult> {
    const execute = (tool: Tool): Promise<ToolResult> => this.#execute(record, tool, step);
    return (await this.#tools.use(record.toolName, `tool ${record.toolName}`, execute)) ?? fail(`Unknown tool: ${record.toolName}`);
  }

  async #execute(record: ToolCallRecord, tool: Tool, step: CallStep): Promise<ToolResult> {
    const decision = await this.#decide(record, tool);
    if ('result' in decision) return decision.result;
    const { call } = decision;
    for (const claim of this.#claimsOf(call)) {
      const refusal = await this.#host.hooks.onClaim(Object.freeze(claim), call);
      if (refusal) return refused(refusal);
    }
    await step.begin();
    return this.#invoke(call, step);
  }

  /** Declared, valid, permitted, in that order. */
  async #decide({ id, argumentsJson, turn }: ToolCallRecord, tool: Tool): Promise<Decision> {
    if (!isDeclared(turn.agent, tool)) return { result: refused(undeclared(turn, tool)) };
    const parsed = parseArguments(tool, argumentsJson);
    if (!parsed.ok) return { result: fail(`Bad arguments for ${tool.name}: ${parsed.message}`) };
    const call: ToolCall = Object.freeze({ id, tool, input: parsed.value, turn, argumentsJson });
    const refusal = (await this.#host.hooks.beforeToolCall(call)) ?? (await this.#withdrawn(call));
    return refusal ? { result: refused(refusal) } : { call };
  }

  /** A tool that a plugin took off the model's list does not run either, whatever the model asks for. */
  async #withdrawn({ tool, turn }: ToolCall): Promise<Refusal | undefined> {
    const offered = await this.#host.hooks.selectTools(declaredTools(turn.agent, this.#tools), turn);
    if (offered.some(({ name }) => name === tool.name)) return undefined;
    return { blockedBy: 'policy', message: `the tool ${tool.name} is withdrawn from agent "${turn.agent.name}"` };
  }

  /** What the call will touch. A tool that cannot say claims what no guard permits. */
  #claimsOf({ tool, input, turn }: ToolCall): readonly Claim[] {
    try {
      return tool.claims?.(input, turn) ?? [];
    } catch (error) {
      this.#host.log.error('a tool could not say what it will touch', { tool: tool.name, error });
      return [{ kind: 'unknown', value: tool.name }];
    }
  }

  /** Runs the tool until it returns, its deadline passes or the turn is aborted. */
  async #invoke(call: ToolCall, { key, resultOf }: CallStep): Promise<ToolResult> {
    const { tool, turn, input } = call;
    const deadline = callDeadline(this.#host.clock, turn.signal, tool.timeoutMs ?? TOOL_TIMEOUT_MS, tool.name);
    let refusal: Refusal | undefined;
    const claim = async (late: Claim): Promise<void> => {
      refusal = await this.#host.hooks.onClaim(Object.freeze(late), call);
      if (refusal) throw new OryxError('ORYX_REFUSED', refusal.message);
    };
    const permits = async (late: Claim): Promise<boolean> => (await this.#host.hooks.onClaim(Object.freeze(late), call)) === undefined;
    const run: ToolRun = { signal: deadline.signal, turn, call, key, claim, permits, resultOf };
    const running = (async () => checked(tool, await tool.execute(input, run)))().catch((error: unknown) =>
      refusal ? refused(refusal) : this.#thrown(tool, error),
    );
    try {
      return await Promise.race([running, deadline.over]);
    } finally {
      deadline.release();
    }
  }

  #thrown(tool: Tool, error: unknown): ToolResult {
    const blockedBy = this.#tools.ownerOf(tool.name) ?? tool.name;
    if (isOryxError(error) && error.code === 'ORYX_REFUSED') return refused({ blockedBy, message: error.message });
    this.#host.log.error('a tool threw instead of returning a failure', { tool: tool.name, error });
    return fail(`${tool.name} failed: ${messageOf(error)}`);
  }

  /** The result of a call that a crash cut off and that must not be repeated. */
  async #lost(record: ToolCallRecord): Promise<StepResult<ToolResult>> {
    const value = fail(
      `${record.toolName} was interrupted by a restart and its outcome is unknown: it may or may not have taken effect. Check before you repeat it.`,
    );
    return { value, rows: await this.#host.hooks.afterToolCall([], record, value, 0) };
  }
}

/** Untyped plugins can return anything; what is no result is a failure. */
function checked(tool: Tool, result: ToolResult): ToolResult {
  const { success, content, errorMessage } = (result ?? {}) as { success?: unknown; content?: unknown; errorMessage?: unknown };
  const isResult = success === true ? typeof content === 'string' : success === false && typeof errorMessage === 'string';
  return isResult ? result : fail(`${tool.name} returned something that is not a tool result`);
}

function undeclared({ agent }: Turn, { name }: Tool): Refusal {
  return { blockedBy: 'undeclared', message: `agent "${agent.name}" does not declare the tool ${name} in its tools` };
}

function refused({ blockedBy, message }: Refusal): ToolResult {
  return { success: false, errorMessage: message, retryable: false, blockedBy };
}

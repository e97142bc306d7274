/** The ReAct loop: ask the model, run its calls, until it has nothing left to call. */
import type {
  AssistantMessage,
  LlmReply,
  Message,
  Steps,
  StopReason,
  ToolCallRequest,
  ToolMessage,
  ToolResult,
  Turn,
  TurnEvent,
  TurnLoop,
  TurnOutcome,
} from './contract/index.ts';
import type { LoopHost } from './loop-host.ts';
import { runInOrder, type PlannedCall } from './call-batches.ts';
import { OryxError, isOryxError } from './errors.ts';
import { LlmCaller, type ModelAnswer } from './llm-caller.ts';
import { LoopGuard } from './loop-guard.ts';
import { ReplyText } from './reply-text.ts';
import { fail } from './result.ts';
import { ToolExecutor } from './tool-executor.ts';
import { callIdsIn, resultIn, resultText } from './transcript.ts';

/** Calls of one answer that run; more are answered with a failure. */
const MAX_CALLS_PER_ANSWER = 32;
/** Answers in a row that repeat a call with its result before the run ends. */
const LOOP_LIMIT = 3;
/** Ends that are nobody's doing but the server's own: the operator has to hear of their cause. */
const FAULTS: ReadonlySet<string> = new Set(['ORYX_INTERNAL', 'ORYX_HOOK_FAILED', 'ORYX_AUDIT_FAILED']);

/** The loop on a kernel's hooks and registries. */
export function createTurnLoop(host: LoopHost): TurnLoop {
  const llm = new LlmCaller(host);
  const tools = new ToolExecutor(host);
  return {
    run: (turn, history, steps, emit) => host.withTrace(turn.id, () => new Run(host, llm, tools, turn, history, steps, emit).outcome()),
  };
}

/** One run of the loop. */
class Run {
  readonly #host: LoopHost;
  readonly #llm: LlmCaller;
  readonly #tools: ToolExecutor;
  readonly #turn: Turn;
  readonly #before: readonly Message[];
  readonly #steps: Steps;
  readonly #emit: (event: TurnEvent) => void;
  readonly #said: Message[] = [];
  readonly #text: ReplyText;
  readonly #guard = new LoopGuard(LOOP_LIMIT);
  readonly #callIds: Set<string>;

  constructor(
    host: LoopHost,
    llm: LlmCaller,
    tools: ToolExecutor,
    turn: Turn,
    history: readonly Message[],
    steps: Steps,
    emit: (event: TurnEvent, said: () => string) => void,
  ) {
    this.#host = host;
    this.#llm = llm;
    this.#tools = tools;
    this.#turn = turn;
    this.#before = [...history, { role: 'user', content: turn.input }];
    this.#callIds = new Set(callIdsIn(history));
    this.#steps = steps;
    const text = new ReplyText((delta) => this.#emit({ type: 'token', delta }));
    this.#emit = (event) => emit(event, () => text.text);
    this.#text = text;
  }

  /** Rejects only when the engine suspends the run; every other end is an outcome. */
  async outcome(): Promise<TurnOutcome> {
    this.#emit({ type: 'trace', traceId: this.#turn.id });
    await this.#host.hooks.beforeTurn(this.#turn);
    const outcome = await this.#think().then(
      (stopReason) => this.#ended(stopReason),
      (error: unknown) => this.#failed(error),
    );
    await this.#host.hooks.afterTurn(this.#turn, outcome);
    return outcome;
  }

  async #think(): Promise<StopReason> {
    for (let call = 1; call <= this.#turn.agent.settings.maxIterations; call += 1) {
      this.#turn.signal.throwIfAborted();
      const answer = await this.#llm.ask(this.#turn, call, [...this.#before, ...this.#said], this.#steps, this.#text);
      this.#text.part();
      const message = assistantMessage(answer, this.#distinct(answer.reply.toolCalls, call));
      this.#said.push(message);
      if (message.toolCalls.length === 0) return 'completed';
      const results = await this.#act(message.toolCalls, call);
      const observed = message.toolCalls.map((request, index) => ({ ...request, result: results[index]?.content ?? '' }));
      if (this.#guard.observe(observed)) return 'loop';
    }
    return 'max_iterations';
  }

  /** Runs the calls of one answer and adds their results in call order. Throws ORYX_TOOL_FATAL for the first fatal one. */
  async #act(requests: readonly ToolCallRequest[], call: number): Promise<readonly ToolMessage[]> {
    const planned = requests.map((request, index) => this.#planned(request, call, index));
    const results = await runInOrder(planned, (result) => this.#isFatal(result));
    const messages = requests.map((request, index) => toolMessage(request, results[index]));
    this.#said.push(...messages);
    const fatal = results.findIndex((result) => result !== undefined && this.#isFatal(result));
    const result = results[fatal];
    if (result && !result.success) throw new OryxError('ORYX_TOOL_FATAL', `${requests[fatal]?.name}: ${result.errorMessage}`);
    return messages;
  }

  #planned(request: ToolCallRequest, call: number, index: number): PlannedCall {
    const excess = index < MAX_CALLS_PER_ANSWER ? undefined : fail(`not run: at most ${MAX_CALLS_PER_ANSWER} calls per answer`);
    return {
      readOnly: this.#tools.isReadOnly(request),
      run: () => {
        this.#turn.signal.throwIfAborted();
        const resultOf = (id: string) => resultIn([...this.#before, ...this.#said], id);
        const around = { steps: this.#steps, emit: this.#emit, resultOf };
        return this.#tools.run(this.#turn, `tool/${call}/${index + 1}`, request, around, excess);
      },
    };
  }

  #isFatal(result: ToolResult): boolean {
    return !result.success && !result.retryable && this.#turn.agent.settings.onFatalToolError === 'return';
  }

  /** Blank and repeated call ids are replaced, the same way on every replay: providers refuse them, and an id names one result. */
  #distinct(requests: readonly ToolCallRequest[], call: number): readonly ToolCallRequest[] {
    return requests.map((request, index) => {
      const taken = request.id.trim() === '' || this.#callIds.has(request.id);
      const id = taken ? `call-${this.#turn.id.slice(0, 8)}-${call}-${index + 1}` : request.id;
      this.#callIds.add(id);
      return { ...request, id };
    });
  }

  #ended(stopReason: StopReason): TurnOutcome {
    return { turnId: this.#turn.id, status: 'completed', reply: this.#text.text, stopReason, messages: this.#said };
  }

  #failed(error: unknown): TurnOutcome {
    if (isOryxError(error) && error.code === 'ORYX_STOPPING') throw error;
    const known = isOryxError(error) ? error : new OryxError('ORYX_INTERNAL', 'Internal server error', { cause: error });
    if (FAULTS.has(known.code)) this.#host.log.error('run failed', { error: known });
    const { id: turnId } = this.#turn;
    return { turnId, status: 'failed', reply: this.#text.text, stopReason: 'error', messages: this.#said, error: known };
  }
}

function assistantMessage({ provider, reply }: ModelAnswer, toolCalls: readonly ToolCallRequest[]): AssistantMessage {
  const echo: LlmReply['echo'] = reply.echo;
  return { role: 'assistant', content: reply.content, toolCalls, ...(echo && { echo: { provider, fields: echo } }) };
}

function toolMessage({ id, name }: ToolCallRequest, result: ToolResult | undefined): ToolMessage {
  const content = resultText(result ?? fail('not executed, an earlier call ended the run'));
  return { role: 'tool', toolName: name, toolCallId: id, content };
}

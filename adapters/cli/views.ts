/** The parts of the API's views that the command line shows. */

/** An agent; of a broken one only `name`, `status` and `error` mean something. */
export interface AgentView {
  readonly name: string;
  readonly description: string | null;
  readonly provider: string | null;
  readonly model: string | null;
  readonly tools: readonly string[];
  readonly skills: readonly string[];
  readonly schedules: readonly { readonly key: string; readonly cron: string; readonly zone: string | null }[];
  readonly status: 'ok' | 'stale' | 'broken';
  readonly error: AgentErrorView | null;
  readonly warnings: readonly string[];
  readonly version: string | null;
}

/** What is wrong with an AGENT.md, and where. */
export interface AgentErrorView {
  readonly message: string;
  readonly file: string;
  readonly line: number | null;
  readonly column: number | null;
}

/** A model provider, its key masked. */
export interface ProviderView {
  readonly name: string;
  readonly apiKey: string | null;
  readonly baseUrl: string | null;
  readonly description: string | null;
}

/** A channel to people. */
export interface NotifyChannelView {
  readonly name: string;
  readonly type: string;
  readonly description: string | null;
}

/** A message to people and what became of it. */
export interface OutboxMessageView {
  readonly id: number;
  readonly channel: string;
  readonly state: 'pending' | 'sending' | 'delivered' | 'failed' | 'unknown';
  readonly parts: number;
  readonly partsSent: number;
  readonly agent: string | null;
  readonly createdAt: string;
  readonly error?: string | null;
}

/** A session without its messages. */
export interface SessionSummaryView {
  readonly sessionId: string;
  readonly profileName: string;
  readonly channel: string;
  readonly userId: string;
  readonly status: string;
  readonly createdAt: string;
  readonly lastActiveAt: string | null;
  readonly messageCount: number;
}

/** A session with its last 100 messages. */
export interface SessionView {
  readonly sessionId: string;
  readonly profileName: string;
  readonly messages: readonly MessageView[];
}

/** One message of a session. */
export interface MessageView {
  readonly role: 'user' | 'assistant' | 'tool';
  readonly content: string;
  readonly toolName: string | null;
  readonly toolCalls: readonly { readonly name: string; readonly argumentsJson: string }[];
}

/** A tool that agents may declare. */
export interface ToolView {
  readonly name: string;
  readonly description: string;
}

/** A run in progress. */
export interface RunView {
  readonly traceId: string;
  readonly agentName: string;
  readonly sessionId: string;
  readonly origin: string;
  readonly startedAt: string;
  readonly step: string | null;
}

/** A schedule and its state. */
export interface ScheduleView {
  readonly scheduleId: string;
  readonly profileName: string;
  readonly key: string;
  readonly cron: string;
  readonly zone: string | null;
  readonly enabled: boolean;
  readonly nextRunAt: string | null;
  readonly lastRunAt: string | null;
  readonly lastStatus: string | null;
  readonly runCount: number;
}

/** What became of a slot, or of a run by hand: then `firstSlot` is null. */
export interface ScheduleExecutionView {
  readonly status: string;
  readonly firstSlot: string | null;
  readonly durationMs: number | null;
  readonly errorMessage: string | null;
  readonly reason: string | null;
  readonly traceId: string | null;
}

/** When a schedule fires next. */
export interface SchedulePreviewView {
  readonly cron: string;
  readonly zone: string;
  readonly fires: readonly { readonly at: string; readonly local: string; readonly dst: 'gap' | 'repeat' | null }[];
}

/** A plugin and how it is. */
export interface PluginView {
  readonly name: string;
  readonly state: 'pending' | 'active' | 'failed';
  readonly missing: readonly string[];
  readonly error: string | null;
  readonly warnings?: readonly string[];
}

/** A setting in effect, secrets masked; `origin` is "default", "file <path>", "environment <NAME>" or "flag". */
export interface SettingView {
  readonly key: string;
  readonly value: unknown;
  readonly origin: string;
}

/** A finished backup; `path` is relative to the workspace. */
export interface BackupView {
  readonly path: string;
  readonly createdAt: string;
  readonly bytes: number;
  readonly files: number;
  readonly withKey: boolean;
  readonly skipped: readonly { readonly path: string; readonly reason: string }[];
}

/** Where a fault stands and what it is, e.g. "agents/ops/AGENT.md:3:7: …". */
export function placedError({ message, file, line, column }: AgentErrorView): string {
  const place = [file, line, column].filter((part) => part !== null).join(':');
  return message.startsWith(place) ? message : `${place}: ${message}`;
}

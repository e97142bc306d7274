/** From the text of an AGENT.md to the agent that it describes. Pure. */
import type { Profile, TurnSettings } from '../../kernel/index.ts';
import { agentError } from './agent-error.ts';
import { isAgentName } from './agent-name.ts';
import { bootstrapProblem } from './bootstrap-file.ts';
import type { AgentError, FrontMatter, ScheduleView, TextPosition } from './contract.ts';
import { type Environment, expandEnvironment } from './env.ts';
import { parseFrontMatter } from './front-matter.ts';
import { schedulesOf } from './schedule-entry.ts';
import { FieldFault, type LocatedText, Section } from './section.ts';

/** A name that an AGENT.md mentions, and on which line: whether it exists is asked when somebody looks. */
export type Reference = LocatedText;

/** One valid version of an agent. */
export interface AgentDefinition {
  readonly profile: Profile;
  readonly schedules: readonly ScheduleView[];
  readonly tools: readonly Reference[];
  readonly provider: Reference;
  readonly fallback: readonly Reference[];
  /** Where something of the front matter stands. */
  readonly positionOf: FrontMatter['positionOf'];
  /** What is odd about the text itself, each with its line. */
  readonly warnings: readonly string[];
}

/** What a text is judged by. */
export interface DeriveOptions {
  /** The directory's name; the text must agree. */
  readonly name: string;
  /** Content hash of the text. */
  readonly version: string;
  /** Does such a provider exist? Absent: not asked, for a version that was valid once. */
  readonly knowsProvider?: (name: string) => boolean;
  readonly environment: Environment;
  /** A text that is being saved: keys of older formats are refused instead of ignored. */
  readonly saving?: boolean;
}

/** The agent, or the first fault of its text. */
export type Derivation = { readonly ok: true; readonly agent: AgentDefinition } | { readonly ok: false; readonly error: AgentError };

const KNOWN = ['name', 'description', 'identity', 'provider', 'tools', 'mcp_servers', 'channels', 'bootstrap', 'schedules', 'settings'];
const IGNORED = ['skills', 'knowledge', 'notify_channels'];
const DAY_SECONDS = 86_400;

/** The largest AGENT.md, in bytes. */
export const MAX_AGENT_BYTES = 1024 * 1024;

/** Reads, checks and completes an AGENT.md. Never throws for a fault of the text: the first fault comes back with line and column. */
export function deriveAgent(text: string, options: DeriveOptions): Derivation {
  const nul = text.indexOf('\0');
  if (nul >= 0)
    return { ok: false, error: agentError(options.name, 'there is a NUL character in the file: remove it', placeOf(text, nul)) };
  if (Buffer.byteLength(text) > MAX_AGENT_BYTES) return { ok: false, error: agentError(options.name, 'the file is larger than 1 MB') };
  const parsed = parseFrontMatter(text);
  if (!parsed.ok) return { ok: false, error: agentError(options.name, parsed.problem.message, parsed.problem) };
  try {
    return { ok: true, agent: definitionOf(parsed.matter, options) };
  } catch (error) {
    if (error instanceof FieldFault) return { ok: false, error: agentError(options.name, error.message, error.position) };
    throw error;
  }
}

function placeOf(text: string, offset: number): TextPosition {
  const lines = text.slice(0, offset).split(/\r\n?|\n/);
  return { line: lines.length, column: (lines[lines.length - 1]?.length ?? 0) + 1 };
}

function definitionOf(matter: FrontMatter, options: DeriveOptions): AgentDefinition {
  const warnings: string[] = [...matter.warnings];
  const warn = (warning: string): void => void warnings.push(warning);
  const data = withEnvironment(matter, options.environment, warn);
  const root = new Section(data, [], matter.positionOf);

  checkName(root, options.name);
  const identity = root.optionalSection('identity');
  identity?.scalarText('agent_name');
  identity?.scalarText('prompt');
  const provider = providerOf(root, options);
  const tools = root.optionalTexts('tools') ?? [];
  const sources = root.optionalTexts('mcp_servers');
  const schedules = schedulesOf(root, warn);
  checkLists(root);
  checkLegacyKeys(root, options.saving ?? false, warn);

  for (const warning of root.unknownKeys([...KNOWN, ...IGNORED])) warn(warning);
  for (const warning of identity?.unknownKeys(['agent_name', 'prompt']) ?? []) warn(warning);
  for (const warning of provider.warnings) warn(warning);
  const settings = settingsOf(root.optionalSection('settings'), warn);
  return {
    profile: Object.freeze({
      name: options.name,
      description: root.scalarText('description') ?? '',
      instructions: matter.body.trim(),
      provider: provider.name.text,
      model: provider.model,
      ...(provider.temperature === undefined ? {} : { temperature: provider.temperature }),
      tools: Object.freeze(tools.map(({ text }) => text)),
      ...(sources === undefined ? {} : { toolSources: Object.freeze(sources.map(({ text }) => text)) }),
      settings,
      version: options.version,
      frontmatter: data,
    }),
    schedules,
    tools,
    provider: provider.name,
    fallback: provider.fallback,
    positionOf: matter.positionOf,
    warnings,
  };
}

function checkName(root: Section, directory: string): void {
  const name = root.text('name');
  if (!isAgentName(name)) throw root.fault('name', `"${name}" must be 1 to 64 letters, digits, "_" or "-"`);
  if (name !== directory) throw root.fault('name', `"${name}" must equal the name of the directory, "${directory}"`);
}

interface ProviderPart {
  readonly name: Reference;
  readonly model: string;
  readonly temperature: number | undefined;
  readonly fallback: readonly Reference[];
  readonly warnings: readonly string[];
}

function providerOf(root: Section, { knowsProvider }: DeriveOptions): ProviderPart {
  const section = root.optionalSection('provider');
  if (section === undefined) throw root.fault('provider', 'is missing: it needs the keys "name" and "model"');
  const name = section.text('name');
  const model = section.text('model');
  if (knowsProvider?.(name) === false) throw section.fault('name', `"${name}" is not a known provider: register it, or name another one`);
  const warnings = [...section.unknownKeys(['name', 'model', 'temperature', 'api_key', 'fallback'])];
  if (section.has('api_key')) {
    warnings.push(`line ${section.positionOf('api_key').line}: provider.api_key has no effect: a key is kept with the provider`);
  }
  const fallback = section.sections('fallback').map((candidate): Reference => {
    candidate.text('model');
    candidate.optionalNumber('temperature', 0, 2);
    warnings.push(...candidate.unknownKeys(['name', 'model', 'temperature']));
    return { text: candidate.text('name'), line: candidate.positionOf('name').line };
  });
  const temperature = section.optionalNumber('temperature', 0, 2);
  return { name: { text: name, line: section.positionOf('name').line }, model, temperature, fallback, warnings };
}

function settingsOf(section: Section | undefined, warn: (warning: string) => void): TurnSettings {
  for (const warning of section?.unknownKeys(['max_iterations', 'max_history_turns', 'timeout_seconds', 'on_fatal_tool_error']) ?? [])
    warn(warning);
  return Object.freeze({
    maxIterations: section?.optionalInteger('max_iterations', 1, 100) ?? 10,
    maxHistoryTurns: section?.optionalInteger('max_history_turns', 1, 200) ?? 20,
    timeoutMs: (section?.optionalInteger('timeout_seconds', 1, DAY_SECONDS) ?? 600) * 1000,
    onFatalToolError: section?.optionalChoice('on_fatal_tool_error', ['return', 'feedback']) ?? 'return',
  });
}

/** Lists that others read later, and that must be sound from the start. */
function checkLists(root: Section): void {
  for (const channel of root.sections('channels', 'name')) {
    channel.text('name');
    channel.optionalText('channel');
  }
  for (const { text, line } of root.optionalTexts('bootstrap') ?? []) {
    const problem = bootstrapProblem(text);
    if (problem !== undefined)
      throw new FieldFault(`bootstrap: "${text}" ${problem}`, { line, column: root.positionOf('bootstrap').column });
  }
}

function checkLegacyKeys(root: Section, saving: boolean, warn: (warning: string) => void): void {
  if (saving && root.has('skills'))
    throw root.fault('skills', 'does not belong into AGENT.md: skills are bound to an agent, not listed in its file');
  for (const key of IGNORED) {
    if (root.has(key)) warn(`line ${root.positionOf(key).line}: "${key}" has no effect in AGENT.md`);
  }
}

/** The front matter with variables replaced under `provider`, and nowhere else. */
function withEnvironment(
  matter: FrontMatter,
  environment: Environment,
  warn: (warning: string) => void,
): Readonly<Record<string, unknown>> {
  const { data } = matter;
  if (data['provider'] === undefined) return data;
  const { line } = matter.positionOf(['provider']);
  const provider = expandEnvironment(data['provider'], environment, (warning) => warn(`line ${line}: provider: ${warning}`));
  return Object.freeze(Object.assign(Object.create(null) as Record<string, unknown>, data, { provider }));
}

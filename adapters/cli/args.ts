/** Declared commands and the parser of their words and options. */
import type { Cli } from './cli.ts';
import { nearest } from './nearest.ts';
import { UsageError } from './usage-error.ts';

/** Says what is wrong with a value, or undefined when it is good. */
export type Check = (value: string) => string | undefined;

/** An option without a value, or with one. */
export type OptionSpec = FlagOption | TextOption;
/** An option that is there or not. */
export interface FlagOption {
  readonly kind: 'flag';
  readonly help: string;
}
/** An option with a value; `check` says what is wrong with one. */
export interface TextOption {
  readonly kind: 'text';
  /** Names the value in the help text, e.g. "DIR". */
  readonly value: string;
  readonly help: string;
  readonly check?: Check;
}

/** A word after the command. */
export interface WordSpec {
  readonly help: string;
  readonly optional?: true;
  readonly check?: Check;
}

/** Options by name, without the dashes. */
export type Options = Readonly<Record<string, OptionSpec>>;
/** Words by name, in the order in which they are typed. */
export type Words = Readonly<Record<string, WordSpec>>;

/** Options that every command has. */
export const commonOptions = {
  root: { kind: 'text', value: 'DIR', help: 'the workspace; default: ORYXOS_ROOT, else ./.oryxos' },
  config: { kind: 'text', value: 'FILE', help: 'configuration file instead of <root>/application.yml' },
} as const satisfies Options;

/** What every command can rely on. */
export interface CommonArgs {
  readonly root: string | undefined;
  readonly config: string | undefined;
}

type OptionValues<O extends Options> = { readonly [K in keyof O]: O[K] extends { readonly kind: 'flag' } ? boolean : string | undefined };
type WordValues<W extends Words> = { readonly [K in keyof W]: W[K] extends { readonly optional: true } ? string | undefined : string };

/** Words and options of one call, by name. */
export type Args<W extends Words, O extends Options> = WordValues<W> & OptionValues<O> & CommonArgs;

/** One command, as data. */
export interface Command {
  /** e.g. "provider add". */
  readonly name: string;
  readonly summary: string;
  /** In the order in which they are typed; optional ones last. */
  readonly words: Words;
  readonly options: Options;
  /** Complete command lines for the help text. */
  readonly examples: readonly string[];
  /** Resolves with the exit code; nothing means 0. */
  run(args: Readonly<Record<string, unknown>>, cli: Cli): Promise<number | void>;
}

/** Declares a command; words and options type what `run` gets. */
export function defineCommand<const W extends Words = {}, const O extends Options = {}>(command: {
  readonly name: string;
  readonly summary: string;
  readonly words?: W;
  readonly options?: O;
  readonly examples?: readonly string[];
  run(args: Args<W, O>, cli: Cli): Promise<number | void>;
}): Command {
  return {
    name: command.name,
    summary: command.summary,
    words: command.words ?? {},
    options: { ...command.options, ...commonOptions },
    examples: command.examples ?? [],
    run: (args, cli) => command.run(args as Args<W, O>, cli),
  };
}

/** What was asked for: a command with its arguments, or a text. */
export type Request =
  | { readonly kind: 'run'; readonly command: Command; readonly args: Readonly<Record<string, unknown>> }
  | { readonly kind: 'help'; readonly topic: string }
  | { readonly kind: 'version' };

/**
 * Reads a command line. Options may stand before, between and behind the words; `--` ends them.
 * Throws UsageError for an unknown command or option, a missing or surplus word, a missing or bad value.
 */
export function parseArgs(argv: readonly string[], commands: readonly Command[]): Request {
  const leading = leadingOptions(argv);
  const rest = argv.slice(leading.length);
  if (rest.length === 0 && leading.length === 0) return { kind: 'help', topic: '' };
  const first = rest[0];
  if (first === '-h' || first === '--help') return { kind: 'help', topic: '' };
  if (first === '-V' || first === '--version') return { kind: 'version' };
  if (first === 'help') return { kind: 'help', topic: topicOf(rest.slice(1), commands) };
  if (first?.startsWith('-'))
    throw new UsageError(`Unknown option "${first}".${hint(first, ['--help', '--version', '--root', '--config'])}`);
  if (first === undefined) throw new UsageError('Missing a command.');

  const command = commandOf(rest, commands);
  if (command === undefined) return { kind: 'help', topic: first };
  const tokens = [...leading, ...rest.slice(command.name.split(' ').length)];
  return readTokens(command, tokens);
}

function leadingOptions(argv: readonly string[]): readonly string[] {
  let end = 0;
  for (;;) {
    const token = argv[end];
    if (token === undefined || !/^--(root|config)(=|$)/.test(token)) return argv.slice(0, end);
    end = Math.min(end + (token.includes('=') ? 1 : 2), argv.length);
  }
}

function topicOf(words: readonly string[], commands: readonly Command[]): string {
  if (words.length === 0) return '';
  const command = commandOf(words, commands);
  return command?.name ?? words[0] ?? '';
}

/** The command that the first words name; undefined for a group alone when help is asked for. */
function commandOf(words: readonly string[], commands: readonly Command[]): Command | undefined {
  const [first = '', second] = words;
  const single = commands.find((command) => command.name === first);
  if (single !== undefined) return single;

  const group = commands.filter((command) => command.name.startsWith(`${first} `));
  if (group.length === 0) {
    const names = [...new Set(commands.map((command) => command.name.split(' ')[0] ?? ''))];
    throw new UsageError(`Unknown command "${first}".${hint(first, names)}`);
  }
  if (second === '-h' || second === '--help') return undefined;
  const verbs = group.map((command) => command.name.slice(first.length + 1));
  if (second === undefined || second.startsWith('-'))
    throw new UsageError(`Missing a command after "${first}": ${verbs.join(', ')}.`, first);
  const found = group.find((command) => command.name === `${first} ${second}`);
  if (found === undefined) throw new UsageError(`Unknown command "${first} ${second}".${hint(second, verbs)}`, first);
  return found;
}

function readTokens(command: Command, tokens: readonly string[]): Request {
  const values: Record<string, unknown> = {};
  for (const [name, option] of Object.entries(command.options)) values[name] = option.kind === 'flag' ? false : undefined;
  const words: string[] = [];
  let optionsEnded = false;
  for (let index = 0; index < tokens.length; index++) {
    const token = tokens[index] ?? '';
    if (optionsEnded || token === '-' || !token.startsWith('-')) {
      words.push(token);
      continue;
    }
    if (token === '--') {
      optionsEnded = true;
      continue;
    }
    if (token === '-h' || token === '--help') return { kind: 'help', topic: command.name };
    if (token === '-V' || token === '--version') return { kind: 'version' };
    const [flag, inline] = splitOnce(token);
    const name = flag.slice(2);
    const option = flag.startsWith('--') && Object.hasOwn(command.options, name) ? command.options[name] : undefined;
    if (option === undefined) {
      const known = [...Object.keys(command.options), 'help', 'version'].map((key) => `--${key}`);
      throw new UsageError(`Unknown option "${flag}" for "${command.name}".${hint(flag, known)}`, command.name);
    }
    if (option.kind === 'flag') {
      if (inline !== undefined) throw new UsageError(`Option "${flag}" takes no value.`, command.name);
      values[name] = true;
      continue;
    }
    const value = inline ?? tokens[++index];
    if (value === undefined || (inline === undefined && value.startsWith('--'))) {
      throw new UsageError(`Option "${flag}" needs a value: ${flag} ${option.value}.`, command.name);
    }
    values[name] = checked(value, option.check, flag, command);
  }
  return { kind: 'run', command, args: { ...values, ...namedWords(command, words) } };
}

function namedWords(command: Command, words: readonly string[]): Record<string, string> {
  const specs = Object.entries(command.words);
  const surplus = words[specs.length];
  if (surplus !== undefined) throw new UsageError(`"${command.name}" does not know what to do with "${surplus}".`, command.name);
  const named: Record<string, string> = {};
  for (const [index, [name, spec]] of specs.entries()) {
    const word = words[index];
    if (word !== undefined) named[name] = checked(word, spec.check, name.toUpperCase(), command);
    else if (spec.optional === undefined) throw new UsageError(`Missing ${name.toUpperCase()}: ${spec.help}.`, command.name);
  }
  return named;
}

function checked(value: string, check: Check | undefined, what: string, command: Command): string {
  const problem = check?.(value);
  if (problem !== undefined) throw new UsageError(`${what} ${problem}.`, command.name);
  return value;
}

function splitOnce(token: string): readonly [string, string | undefined] {
  const at = token.indexOf('=');
  return at < 0 ? [token, undefined] : [token.slice(0, at), token.slice(at + 1)];
}

function hint(word: string, candidates: readonly string[]): string {
  const guess = nearest(word, candidates);
  return guess === undefined ? '' : ` Did you mean "${guess}"?`;
}

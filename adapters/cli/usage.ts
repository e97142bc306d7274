/** Help texts, made from the declared commands. */
import type { Command, OptionSpec } from './args.ts';
import { UsageError } from './usage-error.ts';

/** The help of the program (""), of a group ("provider") or of a command ("provider add"). Throws UsageError for anything else. */
export function usageText(topic: string, commands: readonly Command[]): string {
  if (topic === '') return programUsage(commands);
  const command = commands.find((candidate) => candidate.name === topic);
  if (command !== undefined) return commandUsage(command);
  const group = commands.filter((candidate) => candidate.name.startsWith(`${topic} `));
  if (group.length === 0) throw new UsageError(`Unknown command "${topic}".`);
  return [`Usage: oryxos ${topic} COMMAND`, '', 'Commands:', ...commandLines(group), '', moreHelp(`${topic} COMMAND`)].join('\n');
}

function programUsage(commands: readonly Command[]): string {
  return [
    'Usage: oryxos COMMAND [OPTIONS]',
    '',
    'Agents that live in directories. Start a server with "oryxos serve", talk with "oryxos chat".',
    '',
    'Commands:',
    ...commandLines(commands),
    '',
    'Options:',
    '  -h, --help     show help, of a command when it follows one',
    '  -V, --version  show versions',
    '',
    'Commands talk to the running server of the workspace; without one they open the workspace themselves for a moment.',
    moreHelp('COMMAND'),
  ].join('\n');
}

const moreHelp = (of: string): string => `More: oryxos ${of} --help`;

function commandUsage(command: Command): string {
  const options = Object.entries(command.options).map(([name, option]): [string, string] => [optionLabel(name, option), option.help]);
  const words = Object.entries(command.words).map(([name, word]): [string, string] => [name.toUpperCase(), word.help]);
  return [
    `Usage: oryxos ${synopsis(command)} [OPTIONS]`,
    '',
    `${command.summary}.`,
    ...(words.length > 0 ? ['', 'Parameters:', ...aligned(words)] : []),
    '',
    'Options:',
    ...aligned([...options, ['-h, --help', 'show this']]),
    ...(command.examples.length > 0 ? ['', 'Examples:', ...command.examples.map((example) => `  ${example}`)] : []),
  ].join('\n');
}

function optionLabel(name: string, option: OptionSpec): string {
  return option.kind === 'flag' ? `--${name}` : `--${name} ${option.value}`;
}

function synopsis(command: Command): string {
  const words = Object.entries(command.words).map(([name, word]) => (word.optional ? `[${name.toUpperCase()}]` : name.toUpperCase()));
  return [command.name, ...words].join(' ');
}

function commandLines(commands: readonly Command[]): readonly string[] {
  return aligned(commands.map((command) => [synopsis(command), command.summary]));
}

function aligned(pairs: readonly (readonly [string, string])[]): readonly string[] {
  const width = Math.max(...pairs.map(([label]) => label.length));
  return pairs.map(([label, help]) => `  ${label.padEnd(width)}  ${help}`);
}

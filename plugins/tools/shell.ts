import type { Tool, ToolResult } from '../../kernel/index.ts';
import { defineTool, fail, ok } from '../../kernel/index.ts';
import { ProcessProblem } from '../outside/contract.ts';
import type { CommandOutcome, Processes } from '../outside/contract.ts';
import type { CommandLine } from './command-line.ts';
import { commandLine } from './command-line.ts';

interface ShellInput {
  readonly executable?: string;
  readonly arguments?: readonly string[];
  readonly command?: string;
}

/** `shell`: one program, without a shell. */
export const shellTool = (processes: Processes): Tool =>
  defineTool({
    name: 'shell',
    description:
      'Run one program of the shell whitelist in your own directory, without input and for a limited time. No shell is involved: pipes, ' +
      'redirections, wildcards and variables do not work. Give executable and arguments, or both as one command. Returns what the program ' +
      'wrote; a program that ends with an error code is a failure with that code and its output.',
    timeoutMs: 0,
    aliases: { args: 'arguments' },
    input: {
      type: 'object',
      properties: {
        executable: { type: 'string', minLength: 1, description: 'Name of the program, such as "ls", or its absolute path.' },
        arguments: {
          type: 'array',
          items: { type: 'string' },
          description: 'Each argument as it shall reach the program, unquoted. Default: none.',
        },
        command: {
          type: 'string',
          minLength: 1,
          description: 'Instead of both: program and arguments as one line, e.g. "grep -n \'a b\' notes.txt".',
        },
      },
      additionalProperties: false,
    },
    claims: (input) => {
      const asked = parsed(input);
      return asked.ok ? [{ kind: 'command', value: asked.executable }] : [];
    },
    async execute(input, run) {
      const asked = parsed(input);
      if (!asked.ok) return fail(`Bad arguments for shell: ${asked.reason}`);
      try {
        return resultOf(await processes.run({ executable: asked.executable, arguments: asked.arguments }, run));
      } catch (error) {
        if (!(error instanceof ProcessProblem)) throw error;
        const { message, blockedBy } = error;
        return blockedBy === undefined ? fail(message) : { success: false, errorMessage: message, retryable: false, blockedBy };
      }
    },
  });

function parsed({ executable, command, arguments: args }: ShellInput): CommandLine {
  if (command === undefined) {
    if (executable === undefined) return { ok: false, reason: 'executable is missing' };
    return { ok: true, executable, arguments: args ?? [] };
  }
  if (executable !== undefined || args !== undefined) {
    return { ok: false, reason: 'command stands for executable and arguments; give either that or these' };
  }
  return commandLine(command);
}

function resultOf({ end, stdout, stderr }: CommandOutcome): ToolResult {
  const streams = [stdout, marked('stderr', stderr)].filter((text) => text.trim() !== '').join('\n');
  if (end.kind === 'exit' && end.code === 0) return ok(streams === '' ? '(no output)' : streams);
  if (end.kind === 'exit') return fail(`Exit code ${end.code}: ${both(stderr, stdout)}`);
  if (end.kind === 'signal') return fail(`Ended by signal ${end.signal}: ${both(stderr, stdout)}`);
  const after = streams === '' ? '' : `\n${streams}`;
  if (end.kind === 'output') return fail(`Command wrote more than ${end.maxBytes / 2 ** 20} MiB and was ended${after}`);
  if (end.kind === 'stopped') return fail(`Command was stopped${after}`, { retryable: false });
  return fail(`Command timed out after ${end.seconds} s and was ended${after}`, { retryable: false });
}

/** What went wrong comes first: most programs say it on standard error. */
function both(stderr: string, stdout: string): string {
  if (stderr.trim() === '') return stdout.trim() || '(no output)';
  return stdout.trim() === '' ? stderr.trim() : `${stderr.trim()}\n${marked('stdout', stdout.trimEnd())}`;
}

const marked = (stream: string, text: string): string => (text.trim() === '' ? '' : `[${stream}]\n${text}`);

/** The files that a new agent starts with. */
import { stringify } from 'yaml';
import type { NewFile } from './staged-files.ts';

/** What the scaffold is filled in with. */
export interface NewAgent {
  readonly name: string;
  readonly description: string | null;
  readonly provider: string;
  readonly model: string;
}

/** AGENT.md last, so that nobody sees the agent before its other files are there. */
export function scaffoldOf(agent: NewAgent): readonly NewFile[] {
  const files = {
    'scripts/example.py': EXAMPLE_SCRIPT,
    'REFERENCE.md': `# Reference of ${agent.name}\n\nFacts that the agent looks up when it needs them: addresses, names, formats, house rules.\n`,
    'output/README.md': `# Output\n\nFiles that ${agent.name} produces go here.\n`,
    'AGENT.md': agentMarkdown(agent),
  };
  return Object.entries(files).map(([path, text]) => ({ path, content: Buffer.from(text, 'utf8') }));
}

/** The dumper quotes what needs it: a description with line breaks stays one value. */
function agentMarkdown({ name, description, provider, model }: NewAgent): string {
  const frontMatter = {
    name,
    ...(description === null || description.trim() === '' ? {} : { description }),
    identity: { agent_name: name, prompt: 'You are a helpful assistant. Be precise, and say what you have done.' },
    provider: { name: provider, model },
    tools: ['read_file', 'shell', 'notify'],
    bootstrap: ['AGENTS.md'],
    settings: { max_iterations: 10, max_history_turns: 20 },
  };
  return `---\n${stringify(frontMatter, { version: '1.2', lineWidth: 0 })}---\n\n${BODY}`;
}

const BODY = `# What to do

Describe here, in plain words, what this agent does and how. The text between the two lines of dashes above says who it is, which model it
uses and which tools it may call; a change of this file is live as soon as it is saved.

- Put facts that it looks up into \`REFERENCE.md\`, and name that file here.
- Put scripts that it runs into \`scripts/\`.
- Its results go to \`output/\`.
`;

const EXAMPLE_SCRIPT = `"""A script that the agent can run with the tool "shell": python3 scripts/example.py NAME."""
import sys

name = sys.argv[1] if len(sys.argv) > 1 else "world"
print(f"Hello, {name}.")
`;

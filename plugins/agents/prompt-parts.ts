/** What an agent's directory and the workspace add to the system prompt. The body of AGENT.md itself is the kernel's part. */
import type { Clock, Logger, PromptPart, Turn } from '../../kernel/index.ts';
import { readBootstrapFile } from './bootstrap-file.ts';

const WRITING_TOOLS = ['write_file', 'append_file', 'edit_file', 'make_dir', 'download_file'];

/** What the parts are made with. */
export interface PromptPartsOptions {
  /** Real path of the workspace. */
  readonly root: string;
  readonly clock: Clock;
  readonly log: Logger;
  /** IANA name of the server's time zone. */
  readonly zone: string;
}

/** Identity (order 10), output folder (50), bootstrap files (60) and date (70). */
export function promptParts({ root, clock, log, zone }: PromptPartsOptions): readonly PromptPart[] {
  const format = dateFormat(zone);
  return [
    { name: 'agents.identity', order: 10, render: (turn) => identityPrompt(turn) },
    { name: 'agents.output', order: 50, render: (turn) => outputHint(turn) },
    { name: 'agents.bootstrap', order: 60, render: (turn) => bootstrapText(turn, root, log) },
    { name: 'agents.date', order: 70, render: () => `Current date and time: ${format(clock.now())} (${zone})` },
  ];
}

function identityPrompt({ agent }: Turn): string | undefined {
  const identity = agent.frontmatter['identity'];
  const prompt = isRecord(identity) ? identity['prompt'] : undefined;
  return typeof prompt === 'string' || typeof prompt === 'number' || typeof prompt === 'boolean' ? String(prompt) : undefined;
}

function outputHint({ agent }: Turn): string | undefined {
  if (!agent.tools.some((tool) => WRITING_TOOLS.includes(tool))) return undefined;
  return [
    'Write the files that you produce to the folder "output/" of your own directory; relative paths start there, in your own directory.',
    `Name reports like "output/${agent.name}_report_<yyyy-MM-dd>.md".`,
  ].join(' ');
}

/** Read anew for every prompt, so that an edit counts at once. */
function bootstrapText({ agent }: Turn, root: string, log: Logger): Promise<string | undefined> | undefined {
  const listed = agent.frontmatter['bootstrap'];
  return Array.isArray(listed) && listed.length > 0 ? textOf(new Set(listed.map(String)), root, agent.name, log) : undefined;
}

async function textOf(paths: ReadonlySet<string>, root: string, agent: string, log: Logger): Promise<string | undefined> {
  const texts: string[] = [];
  for (const path of paths) {
    const text = await readBootstrapFile(root, path);
    if (text === undefined) log.warn('bootstrap file is missing, the prompt goes without it', { agent, file: path });
    else if (text.trim() !== '') texts.push(text.trim());
  }
  return texts.length === 0 ? undefined : texts.join('\n\n');
}

/** yyyy-MM-dd HH:mm in a zone. The text of the present minute is kept: formatting costs more than the rest of a prompt. */
function dateFormat(zone: string): (at: number) => string {
  const digits = { year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit' } as const;
  const format = new Intl.DateTimeFormat('en', { ...digits, hourCycle: 'h23', timeZone: zone });
  const written = (at: number): string => {
    const parts = new Map(format.formatToParts(at).map(({ type, value }) => [type, value]));
    return `${parts.get('year')}-${parts.get('month')}-${parts.get('day')} ${parts.get('hour')}:${parts.get('minute')}`;
  };
  let minute: number | undefined;
  let text = '';
  return (at) => {
    const now = Math.floor(at / 60_000);
    if (now !== minute) text = written(at);
    minute = now;
    return text;
  };
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

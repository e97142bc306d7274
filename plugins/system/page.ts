/** The page that a person sees who opens the server's address. */
import type { TurnSummary } from '../../kernel/index.ts';
import type { AgentView } from '../agents/contract.ts';

/** Everything that the page shows. */
export interface PageModel {
  readonly version: string;
  readonly url: string;
  readonly agents: readonly AgentView[];
  readonly runs: readonly TurnSummary[];
  readonly warnings: readonly string[];
  readonly links: readonly { readonly href: string; readonly text: string }[];
  /** Epoch milliseconds. */
  readonly now: number;
}

/** One HTML document without scripts and inline styles, as the content security policy demands. Every value is escaped. */
export function pageHtml(model: PageModel): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>OryxOS</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/system.css">
</head>
<body>
<header>
<h1>OryxOS</h1>
<p class="meta"><span class="dot"></span>running · version ${escaped(model.version)}</p>
${linksHtml(model.links)}
</header>
<main>
${model.warnings.map((warning) => `<p class="warning">${escaped(warning)}</p>`).join('\n')}
<section>
<h2>Agents</h2>
${agentsHtml(model.agents)}
</section>
<section>
<h2>Running now</h2>
${runsHtml(model.runs, model.now)}
</section>
<section>
<h2>Talk to an agent</h2>
<pre><code>${escaped(curlExample(model))}</code></pre>
<p class="hint">Or in a terminal: <code>oryxos chat</code>. An agent is a directory: edit its <code>AGENT.md</code> and it changes while it runs.</p>
</section>
</main>
</body>
</html>
`;
}

function linksHtml(links: PageModel['links']): string {
  if (links.length === 0) return '';
  return `<nav>${links.map(({ href, text }) => `<a href="${escaped(href)}">${escaped(text)}</a>`).join(' ')}</nav>`;
}

function agentsHtml(agents: readonly AgentView[]): string {
  if (agents.length === 0) return '<p class="empty">There is no agent yet.</p>';
  return `<table>
<thead><tr><th>Name</th><th>Status</th><th>Provider</th><th>Description</th></tr></thead>
<tbody>
${agents.map(agentRow).join('\n')}
</tbody>
</table>`;
}

function agentRow({ name, status, provider, model, description, error }: AgentView): string {
  const runsOn = [provider, model].filter((part) => part !== null).join(' / ');
  const about = error === null ? escaped(description ?? '') : `<span class="error">${escaped(error.message)}</span>`;
  return `<tr><td class="name">${escaped(name)}</td><td><span class="badge ${status}">${status}</span></td><td>${escaped(runsOn)}</td><td>${about}</td></tr>`;
}

function runsHtml(runs: readonly TurnSummary[], now: number): string {
  if (runs.length === 0) return '<p class="empty">Nothing is running.</p>';
  const items = runs.map(({ agentName, step, startedAt, traceId }) => {
    const seconds = Math.max(0, Math.round((now - startedAt) / 1000));
    return `<li><span class="name">${escaped(agentName)}</span> ${escaped(step)}, ${seconds} s <code>${escaped(traceId)}</code></li>`;
  });
  return `<ul>\n${items.join('\n')}\n</ul>`;
}

function curlExample({ url, agents }: PageModel): string {
  const name = agents.find(({ status }) => status !== 'broken')?.name ?? 'default';
  return [
    `curl -s ${url}/api/v1/agents/${encodeURIComponent(name)}/invoke \\`,
    "  -H 'Content-Type: application/json' \\",
    `  -d '{"content": "Hello, who are you?"}'`,
  ].join('\n');
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);

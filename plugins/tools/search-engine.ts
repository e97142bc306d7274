/** Search services: how each is asked, and where its hits stand. */
import type { HttpCall } from '../outside/contract.ts';

/** One hit, as the service words it. */
export interface Hit {
  readonly title: string;
  readonly url: string;
  readonly snippet: string;
}

/** How a service is reached. */
export interface SearchSettings {
  readonly provider: 'duckduckgo' | 'searxng' | 'brave' | 'tavily';
  /** "" takes the service's own address; searxng has none. */
  readonly baseUrl: string;
  readonly apiKey: string;
}

/** One search service, with its settings. */
export interface SearchEngine {
  /** What is missing in the configuration, as a sentence; undefined when it can be asked. */
  readonly problem: string | undefined;
  call(query: string, max: number): HttpCall;
  /** Hits of an answer, in order. Anything that does not look like one is left out. */
  hits(answer: unknown): readonly Hit[];
}

const ADDRESSES = {
  duckduckgo: 'https://api.duckduckgo.com/',
  searxng: '',
  brave: 'https://api.search.brave.com/res/v1/web/search',
  tavily: 'https://api.tavily.com/search',
} as const;
const WITH_KEY = new Set<string>(['brave', 'tavily']);

/** The service that is configured. */
export function searchEngine({ provider, baseUrl, apiKey }: SearchSettings): SearchEngine {
  const base = baseUrl === '' ? ADDRESSES[provider] : baseUrl;
  const ask = ASK[provider];
  return {
    problem: problemOf(base, WITH_KEY.has(provider) && apiKey === '', provider),
    call: (query, max) => ask({ base, apiKey, query, max }),
    hits: (answer) => HITS[provider](answer).filter(({ title, url }) => title !== '' && /^https?:\/\//i.test(url)),
  };
}

function problemOf(base: string, needsKey: boolean, provider: string): string | undefined {
  if (base === '') return `web_search.provider ${provider} needs web_search.base-url`;
  if (!URL.canParse(base)) return 'web_search.base-url is not a valid URL';
  return needsKey ? `web_search.provider ${provider} needs web_search.api-key` : undefined;
}

interface Asked {
  readonly base: string;
  readonly apiKey: string;
  readonly query: string;
  readonly max: number;
}

function get(base: string, params: Readonly<Record<string, string>>, headers: Readonly<Record<string, string>> = {}): HttpCall {
  const url = new URL(base);
  for (const [name, value] of Object.entries(params)) url.searchParams.set(name, value);
  return { method: 'GET', url: url.href, headers: { accept: 'application/json', ...headers } };
}

const ASK: Readonly<Record<SearchSettings['provider'], (asked: Asked) => HttpCall>> = {
  duckduckgo: ({ base, query }) => get(base, { q: query, format: 'json', no_html: '1', no_redirect: '1', skip_disambig: '1' }),
  searxng: ({ base, query }) => get(base.endsWith('/search') ? base : `${base.replace(/\/+$/, '')}/search`, { q: query, format: 'json' }),
  brave: ({ base, apiKey, query, max }) => get(base, { q: query, count: String(max) }, { 'x-subscription-token': apiKey }),
  tavily: ({ base, apiKey, query, max }) => ({
    method: 'POST',
    url: base,
    headers: { accept: 'application/json', 'content-type': 'application/json', authorization: `Bearer ${apiKey}` },
    body: JSON.stringify({ query, max_results: max }),
  }),
};

const HITS: Readonly<Record<SearchSettings['provider'], (answer: unknown) => readonly Hit[]>> = {
  duckduckgo(answer) {
    const abstract = { title: text(answer, 'Heading'), url: text(answer, 'AbstractURL'), snippet: text(answer, 'AbstractText') };
    const topics = list(answer, 'RelatedTopics').flatMap((topic) => [topic, ...list(topic, 'Topics')]);
    return [...(abstract.snippet === '' ? [] : [abstract]), ...[...list(answer, 'Results'), ...topics].map(instantAnswer)];
  },
  searxng: (answer) =>
    list(answer, 'results').map((hit) => ({ title: text(hit, 'title'), url: text(hit, 'url'), snippet: text(hit, 'content') })),
  brave: (answer) =>
    list(member(answer, 'web'), 'results').map((hit) => ({
      title: text(hit, 'title'),
      url: text(hit, 'url'),
      snippet: text(hit, 'description'),
    })),
  tavily: (answer) =>
    list(answer, 'results').map((hit) => ({ title: text(hit, 'title'), url: text(hit, 'url'), snippet: text(hit, 'content') })),
};

/** Instant answers have one text, title and explanation in one. */
function instantAnswer(topic: unknown): Hit {
  const [title = '', ...others] = text(topic, 'Text').split(' - ');
  return { title, url: text(topic, 'FirstURL'), snippet: others.join(' - ') };
}

function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined;
}

function text(value: unknown, name: string): string {
  const found = member(value, name);
  return typeof found === 'string' ? found : '';
}

function list(value: unknown, name: string): readonly unknown[] {
  const found = member(value, name);
  return Array.isArray(found) ? found : [];
}

import type { Tool, ToolResult, ToolRun } from '../../kernel/index.ts';
import { defineTool, fail, ok } from '../../kernel/index.ts';
import { printable } from '../outside/contract.ts';
import type { Http, HttpAnswer } from '../outside/contract.ts';
import type { ArticleReader } from './article-reader.ts';
import { charsetInPage, charsetOf, decoded } from './charset.ts';
import type { Fence } from './fenced.ts';
import { failureOf, httpResult, isFailure, MAX_READ_BYTES, readBody, sourceOf } from './http-result.ts';
import { pageText } from './page-text.ts';
import { oneUrl } from './parameters.ts';

const MAX_PAGE_CHARACTERS = 2 * 1024 * 1024;
const MAX_TEXT_CHARACTERS = 20_000;
/** An article that is this much shorter than the page was probably the wrong part of it. */
const SHORT_ARTICLE_CHARACTERS = 250;
const ACCEPT = 'text/html, application/xhtml+xml, text/plain;q=0.9, */*;q=0.5';

/** `fetch_webpage`: a page as its reader sees it. */
export const fetchWebpageTool = (http: Http, articles: ArticleReader, fence: Fence): Tool =>
  defineTool({
    name: 'fetch_webpage',
    description:
      'Read a web page: its article without menus and scripts, as Markdown with absolute links, at most 20000 characters. ' +
      'Use it for pages that people read; for APIs use http_get. Returns the text between two marks, or "(no text on the page)".',
    readOnly: true,
    idempotent: true,
    input: oneUrl,
    claims: ({ url }) => [{ kind: 'url', value: url, access: 'read' }],
    execute: ({ url }, run) =>
      httpResult(async () => {
        // The connection is closed before the page is worked on.
        const got = await http.send({ method: 'GET', url, headers: { accept: ACCEPT } }, run, async (answer) =>
          isFailure(answer) ? failureOf(answer, run, fence) : { answer, ...(await readBody(answer, MAX_READ_BYTES)) },
        );
        return 'bytes' in got ? pageResult(got, run, articles, fence) : got;
      }),
  });

async function pageResult(
  { answer, bytes, cut }: { readonly answer: HttpAnswer; readonly bytes: Uint8Array; readonly cut: boolean },
  run: ToolRun,
  articles: ArticleReader,
  fence: Fence,
): Promise<ToolResult> {
  const type = answer.headers['content-type'] ?? '';
  const page = decoded(bytes, charsetOf(type) ?? charsetInPage(bytes));
  if (page.includes('\0') || /^(image|audio|video|font)\/|^application\/(pdf|zip|octet-stream)/i.test(type)) {
    return fail(`Not a web page but ${printable(type || 'binary data').slice(0, 100)}; use download_file to keep it`);
  }
  const isHtml = type === '' ? /<[a-z!]/i.test(page.slice(0, 1000)) : /html/i.test(type);
  const text = isHtml ? await readable(page, answer.url, run, articles) : page.trim();
  if (text === '') return ok('(no text on the page)');
  const shown = text.length > MAX_TEXT_CHARACTERS ? text.slice(0, MAX_TEXT_CHARACTERS).replace(/[\uD800-\uDBFF]$/, '') : text;
  const fenced = fence(run, sourceOf(answer).replace('answer', 'page'), shown);
  if (shown !== text)
    return ok(`${fenced}\n[cut: the first ${shown.length} characters of ${cut ? 'more than ' : ''}${text.length} are shown]`);
  return ok(cut || page.length > MAX_PAGE_CHARACTERS ? `${fenced}\n[cut: the page is too large and only its beginning was read]` : fenced);
}

/** The article, or all visible text where there is none. */
async function readable(page: string, url: string, run: ToolRun, articles: ArticleReader): Promise<string> {
  const html = page.slice(0, MAX_PAGE_CHARACTERS);
  const whole = await pageText(html, url, 4 * MAX_TEXT_CHARACTERS);
  if (whole.text === '') return '';
  const article = whole.text.length < SHORT_ARTICLE_CHARACTERS ? undefined : await articles.read(html, url, run.signal);
  const content = article?.content.trim() ?? '';
  const isShort = content.length < SHORT_ARTICLE_CHARACTERS && content.length * 2 < whole.text.length;
  const chosen = isShort ? whole.text : content;
  const title = (article?.title ?? whole.title).replaceAll(/\s+/g, ' ').trim();
  return title === '' || chosen.startsWith('# ') ? chosen : `# ${title}\n\n${chosen}`;
}

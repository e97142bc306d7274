/** All visible text of a page, as Markdown: for pages without an article. */
import type * as HtmlParser2 from 'htmlparser2';
import { HIDDEN_STYLE } from './hidden-style.ts';

const SKIPPED = new Set('script style noscript template svg math iframe object embed canvas audio video datalist head'.split(' '));
const BLOCKS = new Set(
  'address article aside blockquote body caption dd details div dl dt fieldset figcaption figure footer form header hr legend li main nav ol p pre section summary table tbody tfoot thead tr ul h1 h2 h3 h4 h5 h6'.split(
    ' ',
  ),
);
/** Blocks with an empty line before them. */
const APART = new Set('p h1 h2 h3 h4 h5 h6 ul ol dl table pre section article header footer nav blockquote'.split(' '));
const VOID = new Set('area base br col embed hr img input link meta source track wbr'.split(' '));
/** The parser's cost for a tag grows with the number of open ones. */
const MAX_DEPTH = 500;

/** What a page shows. */
export interface PageText {
  readonly title: string;
  readonly text: string;
}

/**
 * Reads a page without building a tree: linear, and it stops after `maxLength` characters or at 500 open elements. Scripts, styles, comments and
 * hidden elements are left out; links are absolute.
 *
 * @param base  the page's own URL
 */
export async function pageText(html: string, base: string, maxLength: number): Promise<PageText> {
  const { Parser } = await loadParser();
  const reader = new PageReader(base, maxLength, () => parser.pause());
  const parser: HtmlParser2.Parser = new Parser(
    {
      onopentag: (name, attributes) => reader.open(name, attributes),
      onclosetag: (name) => reader.close(name),
      ontext: (text) => reader.text(text),
    },
    { decodeEntities: true, lowerCaseTags: true },
  );
  parser.write(html);
  return reader.page;
}

/** With the first page. What fails here once, for too many open files say, Node keeps failed: only a new process helps. */
async function loadParser(): Promise<typeof HtmlParser2> {
  try {
    return await import('htmlparser2');
  } catch (error) {
    throw new Error('the server could not load a part of itself; an administrator has to restart it', { cause: error });
  }
}

/** Collects what is shown. Knows how deep it is, and from which depth on nothing is visible. */
class PageReader {
  readonly #maxLength: number;
  readonly #stop: () => void;
  readonly #out: string[] = [];
  readonly #links: { readonly depth: number; readonly href: string; readonly from: number }[] = [];
  #base: string;
  #title = '';
  #length = 0;
  #depth = 0;
  #hiddenFrom = Number.POSITIVE_INFINITY;
  #inTitle = false;

  constructor(base: string, maxLength: number, stop: () => void) {
    this.#base = base;
    this.#maxLength = maxLength;
    this.#stop = stop;
  }

  get page(): PageText {
    const lines = this.#out
      .join('')
      .split('\n')
      .map((line) => line.trim());
    const text = lines.join('\n').replaceAll(/\n{3,}/g, '\n\n');
    return { title: this.#title.replaceAll(/\s+/g, ' ').trim(), text: text.trim() };
  }

  open(name: string, attributes: Readonly<Record<string, string>>): void {
    if (name === 'base' && attributes['href'] !== undefined) this.#base = absolute(attributes['href'], this.#base) ?? this.#base;
    if (!VOID.has(name)) this.#depth += 1;
    if (this.#depth > MAX_DEPTH) return this.#stop();
    if (name === 'title') this.#inTitle = this.#title === '';
    if (this.#isHidden) return;
    if (!VOID.has(name) && (SKIPPED.has(name) || isHidden(attributes))) {
      this.#hiddenFrom = this.#depth;
      return;
    }
    this.#lead(name);
    const href = name === 'a' ? absolute(attributes['href'] ?? '', this.#base) : undefined;
    if (href !== undefined) this.#links.push({ depth: this.#depth, href, from: this.#out.length });
  }

  close(name: string): void {
    if (name === 'title') this.#inTitle = false;
    if (VOID.has(name)) return;
    const link = this.#links.at(-1);
    if (link?.depth === this.#depth) this.#endLink();
    if (!this.#isHidden && BLOCKS.has(name)) this.#newLine();
    if (this.#depth === this.#hiddenFrom) this.#hiddenFrom = Number.POSITIVE_INFINITY;
    this.#depth -= 1;
  }

  text(text: string): void {
    if (this.#inTitle) this.#title = (this.#title + text).slice(0, 300);
    if (!this.#isHidden) this.#add(text.replaceAll(/\s+/g, ' '));
  }

  get #isHidden(): boolean {
    return this.#depth >= this.#hiddenFrom;
  }

  #lead(name: string): void {
    if (name === 'br') return this.#add('\n');
    if (name === 'td' || name === 'th') return this.#add(' ');
    if (!BLOCKS.has(name)) return;
    this.#newLine();
    if (APART.has(name)) this.#add('\n');
    if (name === 'li') this.#add('- ');
    if (/^h\d$/.test(name)) this.#add(`${'#'.repeat(Number(name.slice(1)))} `);
  }

  #newLine(): void {
    if (this.#out.at(-1)?.endsWith('\n') !== true) this.#add('\n');
  }

  #endLink(): void {
    const link = this.#links.pop();
    if (link === undefined) return;
    const text = this.#out.slice(link.from).join('').replaceAll(/\s+/g, ' ').trim();
    if (text === '' || this.#isHidden) return;
    this.#out.length = link.from;
    this.#add(`[${text}](${link.href})`);
  }

  #add(text: string): void {
    if (this.#length > this.#maxLength) return this.#stop();
    this.#length += text.length;
    this.#out.push(text);
  }
}

function isHidden(attributes: Readonly<Record<string, string>>): boolean {
  const { hidden, style = '' } = attributes;
  return hidden !== undefined || attributes['aria-hidden'] === 'true' || HIDDEN_STYLE.test(style.slice(0, 1000));
}

function absolute(href: string, base: string): string | undefined {
  if (href === '' || href.startsWith('#') || !URL.canParse(href, base)) return undefined;
  const url = new URL(href, base);
  return url.protocol === 'http:' || url.protocol === 'https:' ? url.href : undefined;
}

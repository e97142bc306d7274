import { invalidInput } from '../../kernel/index.ts';
import type { Route } from '../http/contract.ts';
import { defineRoute } from '../http/contract.ts';
import { canonicalEntry } from './entries.ts';
import { risksOf } from './shell-risks.ts';
import type { Category } from './whitelist-repository.ts';
import type { Lists, Whitelist } from './whitelist.ts';

const CATEGORIES = new Map<string, Category>([
  ['file', 'FILE'],
  ['shell', 'SHELL'],
  ['http', 'HTTP'],
]);

const entries = { type: 'array', items: { type: 'string' } } as const;
const risksSchema = {
  type: 'array',
  description: 'Entries of the shell whitelist that can start other programs; left out when there is none',
  items: { type: 'object', properties: { entry: { type: 'string' }, risk: { type: 'string' } }, required: ['entry', 'risk'] },
} as const;
const categoryParam = { type: 'object', properties: { category: { type: 'string' } }, required: ['category'] } as const;
const changeSchema = {
  type: 'object',
  properties: {
    category: { enum: ['file', 'shell', 'http'] },
    value: { type: 'string' },
    changed: { type: 'boolean' },
    entries,
  },
  required: ['category', 'value', 'changed', 'entries'],
} as const;

/** Reads and changes the whitelists; a change counts from the next tool call on. */
export function whitelistRoutes(whitelist: Whitelist, root: string): readonly Route[] {
  const base = { root, directory: root, mayLeave: false };

  /** A removed entry must be found by its stored form even when the path leads elsewhere by now, or nowhere. */
  async function storedForm(category: Category, value: string): Promise<string> {
    if (listOf(whitelist.lists, category).includes(value)) return value;
    return canonicalEntry(category, value, base);
  }

  return [
    defineRoute({
      name: 'GET /api/v1/sandbox/whitelist',
      summary: 'List what tools may touch',
      kind: 'read',
      answer: {
        type: 'object',
        properties: { file: entries, shell: entries, http: entries, shellRisks: risksSchema },
        required: ['file', 'shell', 'http'],
      },
      handle() {
        const shellRisks = risksOf(whitelist.lists.shell);
        return shellRisks.length === 0 ? whitelist.lists : { ...whitelist.lists, shellRisks };
      },
    }),
    defineRoute({
      name: 'POST /api/v1/sandbox/whitelist/{category}',
      summary: 'Add an entry to the file, shell or http whitelist',
      kind: 'admin',
      params: categoryParam,
      body: { type: 'object', properties: { value: { type: 'string' } }, required: ['value'] },
      answer: changeSchema,
      async handle({ params, body }) {
        const category = categoryOf(params.category);
        const changed = await whitelist.add(category, await canonicalEntry(category, body.value, base));
        return { category: category.toLowerCase(), value: body.value, changed, entries: listOf(whitelist.lists, category) };
      },
    }),
    defineRoute({
      name: 'DELETE /api/v1/sandbox/whitelist/{category}',
      summary: 'Remove an entry from the file, shell or http whitelist',
      kind: 'admin',
      params: categoryParam,
      query: { type: 'object', properties: { value: { type: 'string' } }, required: ['value'] },
      answer: changeSchema,
      async handle({ params, query }) {
        const category = categoryOf(params.category);
        const value = await storedForm(category, query.value);
        if (category === 'FILE' && value === root) throw invalidInput('value names the workspace, which is always on the file whitelist');
        const changed = await whitelist.remove(category, value);
        return { category: category.toLowerCase(), value: query.value, changed, entries: listOf(whitelist.lists, category) };
      },
    }),
  ];
}

function categoryOf(name: string): Category {
  const category = CATEGORIES.get(name.toLowerCase());
  if (category === undefined) throw invalidInput('category must be file, shell or http');
  return category;
}

const listOf = (lists: Lists, category: Category): readonly string[] =>
  ({ FILE: lists.file, SHELL: lists.shell, HTTP: lists.http })[category];

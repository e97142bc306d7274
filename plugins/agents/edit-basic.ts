/** Changes description, provider and model in the text of an AGENT.md; comments, order, line ends and the body stay as they are. */
import { isDeepStrictEqual } from 'node:util';
import { Document, isMap, parseDocument } from 'yaml';
import { agentError, invalidAgent } from './agent-error.ts';
import type { FrontMatter } from './contract.ts';
import { parseFrontMatter } from './front-matter.ts';
import { withEvenLineEnds } from './line-ends.ts';
import { spliceFor, type YamlChange } from './yaml-edit.ts';

/** Null or absent keeps a value; a blank description removes it, blank provider and model keep theirs. */
export interface BasicEdit {
  readonly description?: string | null | undefined;
  readonly provider?: string | null | undefined;
  readonly model?: string | null | undefined;
}

/** The edited text. Throws ORYX_INVALID_AGENT when the front matter cannot be read, or not be edited without changing something else. */
export function withBasicEdit(text: string, name: string, edit: BasicEdit): string {
  const before = readable(text, name);
  let edited = text;
  for (const change of changesOf(edit)) edited = changed(edited, change) ?? rewritten(edited, change);
  const after = readable(edited, name);
  const wanted = expected(before.data, edit);
  if (isDeepStrictEqual(plainCopy(after.data), wanted) && after.body === before.body) return edited;
  throw invalidAgent(agentError(name, 'this front matter shares values by anchors or has an unusual form: edit the file itself'));
}

function changesOf({ description, provider, model }: BasicEdit): readonly YamlChange[] {
  const changes: YamlChange[] = [];
  if (typeof description === 'string') changes.push({ path: ['description'], value: description.trim() === '' ? null : description });
  if (typeof provider === 'string' && provider.trim() !== '') changes.push({ path: ['provider', 'name'], value: provider });
  if (typeof model === 'string' && model.trim() !== '') changes.push({ path: ['provider', 'model'], value: model });
  return changes;
}

function readable(text: string, name: string): FrontMatter {
  const parsed = parseFrontMatter(text);
  if (parsed.ok) return parsed.matter;
  throw invalidAgent(agentError(name, parsed.problem.message, parsed.problem));
}

/** The offsets of the YAML in a text with even line ends; what is before and after it is never touched. */
function yamlRange(even: string): readonly [number, number] {
  const start = even.indexOf('---\n') + 4;
  // The line end before the YAML counts as its own, for front matter without any line.
  const end = start + even.slice(start - 1).search(/\n---[ \t]*(\n|$)/);
  return [start, end];
}

function changed(text: string, change: YamlChange): string | undefined {
  const even = withEvenLineEnds(text);
  const [start, end] = yamlRange(even.text);
  const splice = spliceFor(even.text.slice(start, end), change);
  if (splice === undefined) return undefined;
  const from = even.originalOffset(start + splice.from);
  const to = even.originalOffset(start + splice.to);
  return text.slice(0, from) + splice.text.replaceAll('\n', even.lineEnd) + text.slice(to);
}

/** For forms that cannot be edited in place: the YAML is written anew. Comments and order stay, spacing may change. */
function rewritten(text: string, { path, value }: YamlChange): string {
  const even = withEvenLineEnds(text);
  const [start, end] = yamlRange(even.text);
  const document: Document = parseDocument(even.text.slice(start, end), { version: '1.2', schema: 'core', merge: false });
  const map = isMap(document.contents) ? document : new Document({});
  if (value === null) map.deleteIn(path);
  else map.setIn(path, value);
  const yaml = map.toString({ lineWidth: 0 }).replaceAll('\n', even.lineEnd);
  return text.slice(0, even.originalOffset(start)) + yaml + text.slice(even.originalOffset(end));
}

function expected(data: FrontMatter['data'], edit: BasicEdit): unknown {
  const wanted = plainCopy(data) as Record<string, unknown>;
  for (const { path, value } of changesOf(edit)) {
    const [key, inner] = path;
    if (inner !== undefined) wanted[key] = { ...((wanted[key] ?? {}) as Record<string, unknown>), [inner]: value };
    else if (value === null) delete wanted[key];
    else wanted[key] = value;
  }
  return wanted;
}

/** Prototypes do not matter for the comparison. */
const plainCopy = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

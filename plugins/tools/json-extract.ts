import type { Tool } from '../../kernel/index.ts';
import { defineTool, fail, messageOf, ok } from '../../kernel/index.ts';
import { pathSteps } from './json-path.ts';
import { compact, sliceAt } from './json-slice.ts';

/** `json_extract`: one value out of a JSON text. */
export const jsonExtractTool = (): Tool =>
  defineTool({
    name: 'json_extract',
    description:
      'Take one value out of a JSON text. Use it instead of reading long JSON by eye. Returns text and numbers as they are, objects and ' +
      'lists as compact JSON, and "(path not found: <path>)" when there is no such value.',
    readOnly: true,
    idempotent: true,
    input: {
      type: 'object',
      properties: {
        json: { type: 'string', description: 'The JSON text.' },
        path: { type: 'string', description: 'Names separated by ".", list items as "[n]" from 0: "data.items[0].name". "" is the whole.' },
      },
      required: ['json', 'path'],
      additionalProperties: false,
    },
    async execute({ json, path }) {
      const steps = pathSteps(path);
      if (steps === undefined) return fail(`Bad path: ${path} (use names separated by "." and "[n]", such as "data.items[0].name")`);
      try {
        JSON.parse(json);
      } catch (error) {
        return fail(`Not valid JSON: ${messageOf(error)}`);
      }
      const value = sliceAt(json, steps);
      if (value === undefined) return ok(`(path not found: ${path})`);
      return ok(value.startsWith('"') ? String(JSON.parse(value)) : compact(value));
    },
  });

// @ts-check
import { invalidInput } from 'oryxos';
import { defineRoute } from 'oryxos/http';

/**
 * `GET /api/v1/hello/{who}`. The schemas check the request, type it, and stand in the API documentation.
 *
 * @param {string} greeting
 */
export const helloRoute = (greeting) =>
  defineRoute({
    name: 'GET /api/v1/hello/{who}',
    summary: 'Greet somebody',
    kind: 'read',
    params: { type: 'object', properties: { who: { type: 'string', maxLength: 40 } }, required: ['who'] },
    query: { type: 'object', properties: { times: { type: 'integer', minimum: 1, maximum: 3, default: 1 } } },
    answer: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
    handle({ params, query }) {
      if (params.who.trim() === '') throw invalidInput('who must not be blank');
      return { text: Array(query.times).fill(`${greeting}, ${params.who}!`).join(' ') };
    },
  });

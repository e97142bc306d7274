import { notFound } from '../../kernel/index.ts';
import type { Route } from '../http/contract.ts';
import { defineRoute } from '../http/contract.ts';
import type { AskDesk } from './ask-desk.ts';
import { checkContent } from './message-content.ts';

/** Answers to questions that a run asked in its stream. */
export const askRoutes = (asks: AskDesk): readonly Route[] => [
  defineRoute({
    name: 'POST /api/v1/asks/{askId}',
    summary: 'Answer a question of a run',
    kind: 'write',
    params: { type: 'object', properties: { askId: { type: 'string' } }, required: ['askId'] },
    body: { type: 'object', properties: { answer: { type: 'string', minLength: 1 } }, required: ['answer'] },
    answer: { type: 'object', properties: { answered: { const: true } }, required: ['answered'] },
    handle({ params, body }) {
      checkContent(body.answer, 'answer');
      if (!asks.answer(params.askId, body.answer)) throw notFound(`No question "${params.askId}" waits for an answer`);
      return { answered: true };
    },
  }),
];

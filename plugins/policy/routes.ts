import type { Logger, Profile, ReadonlyRegistry, Tool } from '../../kernel/index.ts';
import type { Route } from '../http/contract.ts';
import { defineRoute } from '../http/contract.ts';
import { covers } from './decision.ts';
import { effectiveTools } from './effective-tools.ts';
import type { Rule } from './rule.ts';
import { newRule, RULE_TYPES } from './rule.ts';
import type { RuleBook } from './rule-book.ts';

/** Who changes rules as long as the API knows no users. */
const NOBODY = 'anonymous';

const names = { type: 'array', items: { type: 'string' } } as const;
const ruleSchema = {
  type: 'object',
  properties: {
    id: { type: 'integer' },
    ruleType: { enum: RULE_TYPES },
    agentName: { type: ['string', 'null'] },
    pattern: { type: 'string' },
    createdAt: { type: 'string', format: 'date-time' },
    createdBy: { type: 'string' },
    unknownTarget: { type: 'boolean', description: 'No tool that is registered now is meant by the pattern.' },
  },
  required: ['id', 'ruleType', 'agentName', 'pattern', 'createdAt', 'createdBy', 'unknownTarget'],
} as const;
const effectiveSchema = {
  type: 'object',
  properties: {
    agentName: { type: 'string' },
    declared: names,
    effective: names,
    removed: {
      type: 'array',
      items: {
        type: 'object',
        properties: { toolName: { type: 'string' }, reason: { type: 'string' } },
        required: ['toolName', 'reason'],
      },
    },
  },
  required: ['agentName', 'declared', 'effective', 'removed'],
} as const;

/** What the routes show and change. */
export interface PolicyParts {
  readonly book: RuleBook;
  readonly tools: ReadonlyRegistry<Tool>;
  readonly profiles: ReadonlyRegistry<Profile>;
  readonly log: Logger;
}

/** Shows and changes the rules; a change counts from the next tool call on. */
export function policyRoutes({ book, tools, profiles, log }: PolicyParts): readonly Route[] {
  const view = ({ createdAt, ...rule }: Rule) => ({
    ...rule,
    createdAt: new Date(createdAt).toISOString(),
    unknownTarget: !tools.list().some((tool) => covers(rule.pattern, tool)),
  });
  return [
    defineRoute({
      name: 'GET /api/v1/tool-policy',
      summary: 'The rules, and which tools they leave to each agent',
      kind: 'read',
      answer: {
        type: 'object',
        properties: { rules: { type: 'array', items: ruleSchema }, effective: { type: 'array', items: effectiveSchema } },
        required: ['rules', 'effective'],
      },
      handle: () => ({
        rules: book.rules.map(view),
        effective: [...profiles.list()]
          .sort((a, b) => (a.name < b.name ? -1 : 1))
          .map((profile) => effectiveTools(profile, tools.list(), book.rules)),
      }),
    }),
    defineRoute({
      name: 'POST /api/v1/tool-policy/rules',
      summary: 'Add a rule: GLOBAL_DENY, or AGENT_EXEMPT or AGENT_DENY for one agent',
      kind: 'admin',
      body: {
        type: 'object',
        properties: { ruleType: { enum: RULE_TYPES }, agentName: { type: ['string', 'null'] }, pattern: { type: 'string' } },
        required: ['ruleType', 'pattern'],
      },
      answer: ruleSchema,
      async handle({ body }) {
        const rule = await book.add(newRule(body.ruleType, body.agentName, body.pattern), NOBODY);
        log.info('a tool policy rule was added', { rule });
        return view(rule);
      },
    }),
    defineRoute({
      name: 'DELETE /api/v1/tool-policy/rules/{id}',
      summary: 'Remove a rule',
      kind: 'admin',
      params: { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'] },
      answer: { type: 'null' },
      async handle({ params }) {
        await book.remove(params.id);
        log.info('a tool policy rule was removed', { id: params.id });
        return null;
      },
    }),
  ];
}

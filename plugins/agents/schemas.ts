/** Shapes of requests and answers about agents. */

const text = { type: 'string' } as const;
const textOrNull = { type: ['string', 'null'] } as const;
const texts = { type: 'array', items: text } as const;

/** Path of one agent. */
export const nameParams = { type: 'object', properties: { name: text }, required: ['name'] } as const;

/** A new agent. */
export const createBody = {
  type: 'object',
  properties: {
    name: { type: 'string', description: '1 to 64 letters, digits, "_" or "-"; also the name of the directory.' },
    description: textOrNull,
    provider: { type: ['string', 'null'], description: 'Default: the first provider that is not the mock, else "mock".' },
    model: textOrNull,
    skillBindings: { type: ['array', 'null'], items: text },
    knowledgeBindings: { type: ['array', 'null'], items: text },
  },
  required: ['name'],
} as const;

/** A new AGENT.md. */
export const saveBody = {
  type: 'object',
  properties: { agentMarkdown: { type: 'string', description: 'The whole text of AGENT.md.' } },
  required: ['agentMarkdown'],
} as const;

/** New values; what is null or absent stays. */
export const basicBody = {
  type: 'object',
  properties: {
    description: { type: ['string', 'null'], description: 'A blank text removes the description.' },
    provider: textOrNull,
    model: textOrNull,
  },
} as const;

/** Files to save together. */
export const filesBody = {
  type: 'object',
  properties: {
    files: {
      type: 'object',
      additionalProperties: text,
      description: 'Path in the directory of the agent → content; AGENT.md must be there.',
    },
    skillBindings: { type: ['array', 'null'], items: text },
    knowledgeBindings: { type: ['array', 'null'], items: text },
  },
  required: ['files'],
} as const;

const schedule = {
  type: 'object',
  properties: { id: text, key: text, name: text, cron: text, zone: textOrNull, message: textOrNull },
  required: ['id', 'key', 'name', 'cron', 'zone', 'message'],
} as const;

const error = {
  type: ['object', 'null'],
  properties: { message: text, file: text, line: { type: ['integer', 'null'] }, column: { type: ['integer', 'null'] } },
  required: ['message', 'file', 'line', 'column'],
} as const;

/** An agent as the API shows it. */
export const agentView = {
  type: 'object',
  properties: {
    name: text,
    description: textOrNull,
    provider: textOrNull,
    model: textOrNull,
    tools: texts,
    skills: texts,
    schedules: { type: 'array', items: schedule },
    status: { enum: ['ok', 'stale', 'broken'] },
    error,
    warnings: texts,
    version: textOrNull,
  },
  required: ['name', 'description', 'provider', 'model', 'tools', 'skills', 'schedules', 'status', 'error', 'warnings', 'version'],
} as const;

/** A live agent in short. */
export const profileView = {
  type: 'object',
  properties: { name: text, description: textOrNull, provider: text, model: text, tools: texts },
  required: ['name', 'description', 'provider', 'model', 'tools'],
} as const;

/** What the routes answer with, as JSON Schema. */

const nullable = { type: ['string', 'null'] } as const;

/** `MessageView`. */
export const messageSchema = {
  type: 'object',
  properties: {
    role: { enum: ['user', 'assistant', 'tool'] },
    content: { type: 'string' },
    toolName: nullable,
    toolCallId: nullable,
    toolCalls: {
      type: 'array',
      items: {
        type: 'object',
        properties: { id: { type: 'string' }, name: { type: 'string' }, argumentsJson: { type: 'string' } },
        required: ['id', 'name', 'argumentsJson'],
      },
    },
  },
  required: ['role', 'content', 'toolName', 'toolCallId', 'toolCalls'],
} as const;

/** `SessionView`. */
export const sessionSchema = {
  type: 'object',
  properties: { sessionId: { type: 'string' }, profileName: { type: 'string' }, messages: { type: 'array', items: messageSchema } },
  required: ['sessionId', 'profileName', 'messages'],
} as const;

/** One line of the list of sessions. */
export const sessionSummarySchema = {
  type: 'object',
  properties: {
    sessionId: { type: 'string' },
    profileName: { type: 'string' },
    channel: { type: 'string' },
    userId: { type: 'string' },
    status: { enum: ['active', 'archived'] },
    createdAt: { type: 'string', format: 'date-time' },
    lastActiveAt: { type: ['string', 'null'], format: 'date-time' },
    messageCount: { type: 'integer' },
  },
  required: ['sessionId', 'profileName', 'channel', 'userId', 'status', 'createdAt', 'lastActiveAt', 'messageCount'],
} as const;

/** `SessionStats`. */
export const sessionStatsSchema = {
  type: 'object',
  properties: { active: { type: 'integer' }, archived: { type: 'integer' }, total: { type: 'integer' } },
  required: ['active', 'archived', 'total'],
} as const;

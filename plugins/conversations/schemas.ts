/** What the routes answer with, as JSON Schema. */

/** `MessageReply`. */
export const replySchema = {
  type: 'object',
  properties: {
    reply: { type: 'string' },
    traceId: { type: 'string', format: 'uuid' },
    stopReason: { enum: ['completed', 'max_iterations', 'loop'] },
  },
  required: ['reply', 'traceId', 'stopReason'],
} as const;

/** A run in progress. */
export const runSchema = {
  type: 'object',
  properties: {
    traceId: { type: 'string', format: 'uuid' },
    agentName: { type: 'string' },
    sessionId: { type: 'string' },
    origin: { enum: ['session', 'console', 'invoke', 'trigger', 'schedule', 'cli', 'channel'] },
    startedAt: { type: 'string', format: 'date-time' },
    step: { type: 'string' },
  },
  required: ['traceId', 'agentName', 'sessionId', 'origin', 'startedAt', 'step'],
} as const;

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

const idempotencyKey = {
  type: 'string',
  minLength: 1,
  maxLength: 255,
  description:
    'Visible ASCII characters. The same key and body within 24 hours give the same run: one in progress is attached to, a finished one ' +
    'is answered again, errors too. The same key with another body is 409.',
} as const;

/** Request headers of every endpoint that starts a run. */
export const idempotencyHeaders = { type: 'object', properties: { 'Idempotency-Key': idempotencyKey } } as const;

/** Request headers of the message endpoints. */
export const messageHeaders = {
  type: 'object',
  properties: {
    ...idempotencyHeaders.properties,
    'X-Oryx-Interactive': {
      enum: ['1'],
      description:
        'Only with `Accept: text/event-stream`: questions of the run come as events `ask`, and POST /api/v1/asks/{askId} answers them.',
    },
  },
} as const;

/** Parameters that several tools have. */

/** Names a file or directory. */
export const pathParameter = { type: 'string', minLength: 1, description: "Absolute, or relative to the agent's own directory." } as const;

/** Of tools that act on one file or directory. */
export const onePath = {
  type: 'object',
  properties: { path: pathParameter },
  required: ['path'],
  additionalProperties: false,
} as const;

/** Of tools that bring one file to another place. */
export const fromAndTo = {
  type: 'object',
  properties: {
    from: { type: 'string', minLength: 1, description: "The file: absolute, or relative to the agent's own directory." },
    to: { type: 'string', minLength: 1, description: 'The new path with the file name, not just a directory.' },
  },
  required: ['from', 'to'],
  additionalProperties: false,
} as const;

/** Other spellings of `fromAndTo` that models use. */
export const fromAndToAliases = { source: 'from', destination: 'to', from_path: 'from', to_path: 'to' } as const;

/** Of tools that read one URL. */
export const oneUrl = {
  type: 'object',
  properties: { url: { type: 'string', minLength: 1, description: 'Full URL with http:// or https://.' } },
  required: ['url'],
  additionalProperties: false,
} as const;

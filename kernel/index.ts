/** The public surface, and the one module that plugins augment. */
export * from './contract/index.ts';
export * from './define.ts';
export * from './errors.ts';
export * from './result.ts';
export * from './schema.ts';

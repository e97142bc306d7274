/** The public surface, and the one module that plugins augment. */
export * from './contract/index.ts';
export * from './define.ts';
export * from './errors.ts';
export * from './result.ts';
export * from './schema.ts';
export * from './clock.ts';
export { createKernel, type KernelHost, type KernelOptions } from './kernel.ts';
export type { HookRunner } from './loop-host.ts';
export { toStderr } from './log.ts';

/** A kernel on a fake clock whose log lines can be read, and small plugins for it. */
import {
  createKernel,
  definePlugin,
  ok,
  type KernelHost,
  type LogLine,
  type Plugin,
  type Tool,
  type ToolCall,
} from '../../kernel/index.ts';
import { breathe, fakeClock, type FakeClock } from '../harness/fake-clock.ts';

/** A service for tests of the plugin life: it knows whether it has been closed. */
export interface Resource {
  readonly generation: number;
  use(): void;
}

declare module '../../kernel/index.ts' {
  interface Services {
    testResource: Resource;
    testDerived: Resource;
  }
}

export interface KernelFixture extends AsyncDisposable {
  readonly kernel: KernelHost;
  readonly clock: FakeClock;
  readonly lines: readonly LogLine[];
}

/** A kernel with one plugin, "test-log", that keeps the log lines. */
export async function startKernel(): Promise<KernelFixture> {
  const clock = fakeClock();
  const kernel = createKernel({ clock });
  const lines: LogLine[] = [];
  await kernel.load(
    definePlugin({
      name: 'test-log',
      setup(ctx) {
        ctx.register('logSink', { name: 'kept', write: (line) => void lines.push(line) });
      },
    }),
  );
  return { kernel, clock, lines, [Symbol.asyncDispose]: () => ticked(clock, kernel.close()) };
}

/** Moves time forward in seconds until `work` has settled. */
export async function ticked<T>(clock: FakeClock, work: Promise<T>): Promise<T> {
  const state = { isSettled: false };
  const settle = (): void => {
    state.isSettled = true;
  };
  work.then(settle, settle);
  await breathe();
  while (!state.isSettled) await clock.tick(1_000);
  return work;
}

/** A tool that does nothing. */
export function toolNamed(name: string): Tool {
  return { name, description: '', inputSchema: {}, execute: async () => ok('') };
}

/** A tool call for hooks whose taps do not look at it. */
export const anyCall = { id: 'call-1' } as ToolCall;

/** A plugin that only registers a tool. */
export function toolPlugin(name: string, toolName: string): Plugin {
  return definePlugin({
    name,
    setup(ctx) {
      ctx.register('tool', toolNamed(toolName));
    },
  });
}

/** A promise and its resolver. */
export function signal<T = void>(): { readonly promise: Promise<T>; readonly resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => undefined;
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

/** What a promise rejects with. Fails when it does not. */
export async function rejection(promise: Promise<unknown>): Promise<Error & { readonly code?: string }> {
  try {
    await promise;
  } catch (error) {
    return error as Error;
  }
  throw new Error('expected a rejection');
}
